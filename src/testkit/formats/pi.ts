import { noUsage, type Usage } from '../../core/turn.ts';
import { anthropicText } from './api-error.ts';
import { type AgentFormat, createIds, lines, type ToolCall, type ToolEnd, usageOnce } from './format.ts';

/** `pi -p --mode json`, as 0.73.1 prints it: exit code 0 always, the end in the stop reason of the last message. */
export const pi: AgentFormat = {
  version: '0.73.1',
  streamWords: ['json'],
  exitCode: () => 0,
  open({ cwd, prompt, turn, usage: total }) {
    const ids = createIds(turn);
    const usage = usageOnce(total);
    const told = userMessage(prompt);
    let inTurn = false;
    let content: object[] | null = null;
    let responseId = '';
    let last: object = told;
    let call: { toolCallId: string; toolName: string; args: object } | null = null;

    function userMessage(text: string) {
      return { role: 'user', content: [{ type: 'text', text }], timestamp: ids.time() };
    }
    const assistant = (blocks: object[], stopReason: string, figures: Usage, extra: object = {}) => ({
      role: 'assistant',
      content: blocks,
      api: 'anthropic-messages',
      provider: 'fake',
      model: 'fake-model',
      usage: usageFields(figures),
      stopReason,
      timestamp: ids.time(),
      ...extra,
    });
    const snapshot = (blocks: object[]) => assistant(blocks, 'stop', noUsage, { responseId });
    const turnStart = () => {
      const begun = inTurn ? [] : [{ type: 'turn_start' }];
      inTurn = true;
      return begun;
    };
    const turnEnd = (toolResults: object[]) => {
      inTurn = false;
      return { type: 'turn_end', message: last, toolResults };
    };
    /** The start of a turn and its message, unless one is open. */
    const open = () => {
      if (content !== null) return [];
      content = [];
      responseId = ids.id('msg_fake');
      const message = assistant([], 'stop', noUsage);
      return [...turnStart(), { type: 'message_start', message }];
    };
    const close = (stopReason: string, extra: object = {}) => {
      last = assistant(content ?? [], stopReason, usage(), { responseId, ...extra });
      content = null;
      return { type: 'message_end', message: last };
    };
    /** One block of the open message, from its start over its deltas to its end. */
    const block = (kind: string, part: object, deltas: readonly string[], end: object) => {
      const events = open();
      const contentIndex = (content?.push(part) ?? 1) - 1;
      const update = (type: string, fields: object) => ({
        type: 'message_update',
        assistantMessageEvent: { type, contentIndex, ...fields, partial: snapshot([part]) },
        message: snapshot([part]),
      });
      return lines(
        ...events,
        update(`${kind}_start`, {}),
        ...deltas.map((delta) => update(`${kind}_delta`, { delta })),
        update(`${kind}_end`, end),
      );
    };
    const agentEnd = () => ({ type: 'agent_end', messages: [told, last] });
    const both = (message: object) => [
      { type: 'message_start', message },
      { type: 'message_end', message },
    ];

    return {
      start: () =>
        lines(
          {
            type: 'session',
            version: 3,
            id: ids.session,
            timestamp: new Date(ids.time()).toISOString(),
            cwd,
          },
          { type: 'agent_start' },
          ...turnStart(),
          ...both(told),
        ),
      text(parts) {
        const text = parts.join('');
        return block('text', { type: 'text', text }, parts, { content: text });
      },
      thinking: (thinking) =>
        block('thinking', { type: 'thinking', thinking }, [thinking], { content: thinking }),
      toolStart(asked) {
        const [toolName, args] = nameAndInput(asked);
        call = { toolCallId: ids.id('toolu_fake'), toolName, args };
        const toolCall = { type: 'toolCall', id: call.toolCallId, name: toolName, arguments: args };
        const shown = block('toolcall', toolCall, [JSON.stringify(args)], { toolCall });
        return shown + lines(close('toolUse'), { type: 'tool_execution_start', ...call });
      },
      toolEnd(asked, end) {
        const { toolCallId = '', toolName = '' } = call ?? {};
        const [text, isError] = reply(asked, end);
        const blocks = [{ type: 'text', text }];
        const result = {
          role: 'toolResult',
          toolCallId,
          toolName,
          content: blocks,
          isError,
          timestamp: ids.time(),
        };
        return lines(
          { type: 'tool_execution_end', toolCallId, toolName, result: { content: blocks }, isError },
          ...both(result),
          turnEnd([result]),
        );
      },
      todo: () => '',
      subagent: () => '',
      echo: (text) => lines(...both(userMessage(text))),
      error: (error) => lines(...open(), close('error', { errorMessage: anthropicText(error) }), turnEnd([])),
      result({ ok, error }) {
        // An error has closed its turn already.
        if (!ok && error !== undefined) return lines(agentEnd());
        const end = ok ? () => close('stop') : () => close('error', { errorMessage: 'failed' });
        return lines(...open(), end(), turnEnd([]), agentEnd());
      },
    };
  },
};

function usageFields(usage: Usage): object {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    totalTokens: usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: usage.costUsd ?? 0 },
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['bash', { command: call.command }];
  if (call.kind === 'write') return ['write', { path: call.path, content: call.content }];
  return [call.name, call.input];
}

function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): [text: string, isError: boolean] {
  if (exitCode !== undefined && exitCode !== 0) {
    return [`${output}\n\nCommand exited with code ${exitCode}`, true];
  }
  if (!ok || call.kind !== 'write') return [output, !ok];
  return [`Successfully wrote ${Buffer.byteLength(call.content)} bytes to ${call.path}`, false];
}
