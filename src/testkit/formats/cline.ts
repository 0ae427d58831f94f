import type { Usage } from '../../core/turn.ts';
import {
  type AgentFormat,
  createIds,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  usageOnce,
} from './format.ts';

/** `cline --json`, as 3.0.65 prints it: deltas are `content_start` events, the end is `run_result`. */
export const cline: AgentFormat = {
  version: '3.0.65',
  streamWords: ['--json'],
  exitCode: () => 1,
  open({ turn, usage: total }) {
    const { ids, event, hook, inner, begin, finish, isOpen, iterations, usageEvent } = createEvents(
      turn,
      total,
    );
    let toolCallId = '';
    let lastText = '';

    return {
      ...silent,
      start: () => lines(hook('agent_start')),
      text(parts) {
        lastText = parts.join('');
        let accumulated = '';
        const deltas = parts.map((text) => {
          accumulated += text;
          return inner('content_start', { contentType: 'text', text, accumulated });
        });
        const end = inner('content_end', { contentType: 'text', text: lastText });
        return lines(...begin(), ...deltas, usageEvent(), end);
      },
      toolStart(call) {
        toolCallId = ids.id('call_fake');
        const [toolName, input] = nameAndInput(call);
        const start = inner('content_start', { contentType: 'tool', toolName, toolCallId, input });
        return lines(...begin(), usageEvent(), hook('tool_call'), start);
      },
      toolEnd(call, end) {
        const [toolName] = nameAndInput(call);
        const fields = { contentType: 'tool', toolName, toolCallId, ...reply(call, end), durationMs: 10 };
        return lines(hook('tool_result'), inner('content_end', fields), finish(1));
      },
      error({ message }) {
        lastText = message;
        const start = begin();
        const error = { name: 'Error', message, stack: `Error: ${message}` };
        const fields = { error, errorClass: 'unknown', recoverable: false, iteration: iterations() };
        return lines(...start, hook('agent_error'), inner('error', fields));
      },
      result({ ok, usage }) {
        const totalCost = usage.costUsd ?? 0;
        const all = { ...figures(usage), cacheWriteTokens: usage.cacheWriteTokens, totalCost };
        const shared = { text: lastText, iterations: iterations() };
        const done = { ...shared, reason: 'completed', usage: { ...figures(usage), totalCost } };
        const closing = ok ? [...(isOpen() ? [finish(0)] : []), hook('agent_end'), inner('done', done)] : [];
        return lines(
          ...closing,
          event('run_result', {
            ...shared,
            finishReason: ok ? 'completed' : 'error',
            usage: all,
            aggregateUsage: all,
            durationMs: 200,
            model: { id: 'fake-model', provider: 'openai-compatible' },
          }),
        );
      },
    };
  },
};

/** Makes the events of one turn, and counts its iterations. */
function createEvents(turn: number, total: Usage) {
  const ids = createIds(turn);
  const agent = { agentId: ids.id('agent_fake'), taskId: ids.id('conv_fake'), parentAgentId: null };
  const usage = usageOnce(total);
  let iteration = 0;
  let open = false;

  const event = (type: string, fields: object) => ({
    ts: new Date(ids.time()).toISOString(),
    type,
    ...fields,
  });
  const inner = (type: string, fields: object) => event('agent_event', { event: { type, ...fields } });
  return {
    ids,
    event,
    inner,
    isOpen: () => open,
    iterations: () => iteration,
    hook: (hookEventName: string) => event('hook_event', { hookEventName, ...agent }),
    /** Returns the start of an iteration, unless one is open. */
    begin() {
      if (open) return [];
      open = true;
      iteration += 1;
      return [inner('iteration_start', { iteration })];
    },
    finish(toolCallCount: number) {
      open = false;
      return inner('iteration_end', { iteration, hadToolCalls: toolCallCount > 0, toolCallCount });
    },
    usageEvent: () =>
      inner('usage', {
        ...figures(usage()),
        totalInputTokens: figures(total).inputTokens,
        totalOutputTokens: total.outputTokens,
        totalCacheReadTokens: total.cacheReadTokens,
        totalCost: total.costUsd ?? 0,
      }),
  };
}

/** Cline counts cached input as input. */
function figures(usage: Usage) {
  return {
    inputTokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['run_commands', { commands: [call.command] }];
  if (call.kind === 'write') return ['editor', { path: call.path, new_text: call.content }];
  return [call.name, call.input];
}

function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) {
    const query = call.kind === 'shell' ? call.command : nameAndInput(call)[0];
    if (exitCode === 0) return { output: [{ query, result: output, success: true }] };
    const error = `Command exited with code ${exitCode}`;
    return { output: [{ query, result: `[${error}]\n${output}`, error, success: false }] };
  }
  if (!ok) return { output: { error: output }, error: output };
  if (call.kind !== 'write')
    return { output: { query: call.kind === 'other' ? call.name : '', result: output, success: true } };
  const result = `File ${call.existed ? 'updated' : 'created'} successfully at: ${call.path}`;
  return { output: { query: `edit:${call.path}`, result, success: true } };
}
