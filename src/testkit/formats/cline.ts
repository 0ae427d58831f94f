import type { Usage } from '../../core/turn.ts';
import { type AgentFormat, createIds, lines, type ToolCall, type ToolEnd, usageOnce } from './format.ts';

/** `cline --json`, as 3.0.65 prints it: deltas are `content_start` events, the end is `run_result`. */
export const cline: AgentFormat = {
  version: '3.0.65',
  streamWords: ['--json'],
  exitCode: () => 1,
  open({ turn, usage: total }) {
    const ids = createIds(turn);
    const who = { agentId: ids.id('agent_fake'), taskId: ids.id('conv_fake'), parentAgentId: null };
    const usage = usageOnce(total);
    let iteration = 0;
    let open = false;
    let toolCallId = '';
    let lastText = '';

    const event = (type: string, fields: object) => ({
      ts: new Date(ids.time()).toISOString(),
      type,
      ...fields,
    });
    const hook = (hookEventName: string) => event('hook_event', { hookEventName, ...who });
    const inner = (type: string, fields: object) => event('agent_event', { event: { type, ...fields } });
    /** The start of an iteration, unless one is open. */
    const begin = () => {
      if (open) return [];
      open = true;
      iteration += 1;
      return [inner('iteration_start', { iteration })];
    };
    const finish = (toolCallCount: number) => {
      open = false;
      return inner('iteration_end', { iteration, hadToolCalls: toolCallCount > 0, toolCallCount });
    };
    const spent = () => {
      const told = usage();
      return inner('usage', {
        ...figures(told),
        totalInputTokens: figures(total).inputTokens,
        totalOutputTokens: total.outputTokens,
        totalCacheReadTokens: total.cacheReadTokens,
        totalCost: total.costUsd ?? 0,
      });
    };

    return {
      start: () => lines(hook('agent_start')),
      text(parts) {
        lastText = parts.join('');
        let accumulated = '';
        const deltas = parts.map((text) => {
          accumulated += text;
          return inner('content_start', { contentType: 'text', text, accumulated });
        });
        const ended = inner('content_end', { contentType: 'text', text: lastText });
        return lines(...begin(), ...deltas, spent(), ended);
      },
      thinking: () => '',
      toolStart(call) {
        toolCallId = ids.id('call_fake');
        const [toolName, input] = nameAndInput(call);
        const started = inner('content_start', { contentType: 'tool', toolName, toolCallId, input });
        return lines(...begin(), spent(), hook('tool_call'), started);
      },
      toolEnd(call, end) {
        const [toolName] = nameAndInput(call);
        const ended = { contentType: 'tool', toolName, toolCallId, ...reply(call, end), durationMs: 10 };
        return lines(hook('tool_result'), inner('content_end', ended), finish(1));
      },
      todo: () => '',
      subagent: () => '',
      echo: () => '',
      error({ message }) {
        lastText = message;
        const begun = begin();
        const error = { name: 'Error', message, stack: `Error: ${message}` };
        const failed = { error, errorClass: 'unknown', recoverable: false, iteration };
        return lines(...begun, hook('agent_error'), inner('error', failed));
      },
      result({ ok, usage: told }) {
        const totalCost = told.costUsd ?? 0;
        const all = { ...figures(told), cacheWriteTokens: told.cacheWriteTokens, totalCost };
        const done = {
          reason: 'completed',
          text: lastText,
          iterations: iteration,
          usage: { ...figures(told), totalCost },
        };
        const closing = ok ? [...(open ? [finish(0)] : []), hook('agent_end'), inner('done', done)] : [];
        return lines(
          ...closing,
          event('run_result', {
            finishReason: ok ? 'completed' : 'error',
            iterations: iteration,
            usage: all,
            aggregateUsage: all,
            durationMs: 200,
            text: lastText,
            model: { id: 'fake-model', provider: 'openai-compatible' },
          }),
        );
      },
    };
  },
};

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
