import { noUsage, totalTokens, type Usage } from '../../core/turn.ts';
import { anthropicText } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  type Ids,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  usageOnce,
} from './format.ts';

/** `pi -p --mode json`, as 0.73.1 prints it: exit code 0 always, the end in the stop reason of the last message. */
export const pi: AgentFormat = {
  version: '0.73.1',
  streamWords: ['json'],
  exitCode: () => 0,
  open({ cwd, prompt, turn, usage: total }) {
    const ids = createIds(turn);
    const { turnStart, turnEnd, open, close, block, lastMessage } = createMessages(ids, total);
    const promptMessage = userMessage(prompt, ids);
    const timestamp = new Date(ids.time()).toISOString();
    let call = { toolCallId: '', toolName: '', args: {} };
    const agentEnd = () => ({ type: 'agent_end', messages: [promptMessage, lastMessage()] });

    return {
      ...silent,
      start: () =>
        lines(
          { type: 'session', version: 3, id: ids.session, timestamp, cwd },
          { type: 'agent_start' },
          ...turnStart(),
          ...startAndEnd(promptMessage),
        ),
      text(parts) {
        const text = parts.join('');
        return block('text', { type: 'text', text }, parts, { content: text });
      },
      thinking: (thinking) =>
        block('thinking', { type: 'thinking', thinking }, [thinking], { content: thinking }),
      toolStart(toolCall) {
        const [toolName, args] = nameAndInput(toolCall);
        call = { toolCallId: ids.id('toolu_fake'), toolName, args };
        const part = { type: 'toolCall', id: call.toolCallId, name: toolName, arguments: args };
        const events = block('toolcall', part, [JSON.stringify(args)], { toolCall: part });
        return events + lines(close('toolUse'), { type: 'tool_execution_start', ...call });
      },
      toolEnd(toolCall, end) {
        const { toolCallId, toolName } = call;
        const [text, isError] = reply(toolCall, end);
        const content = [{ type: 'text', text }];
        const id = { toolCallId, toolName };
        const result = { role: 'toolResult', ...id, content, isError, timestamp: ids.time() };
        return lines(
          { type: 'tool_execution_end', ...id, result: { content }, isError },
          ...startAndEnd(result),
          turnEnd([result]),
        );
      },
      echo: (text) => lines(...startAndEnd(userMessage(text, ids))),
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

/** Makes the messages of one run, and the events around them. */
function createMessages(ids: Ids, total: Usage) {
  const usage = usageOnce(total);
  let inTurn = false;
  let content: object[] | null = null;
  let responseId = '';
  let last: object = {};

  const snapshot = (blocks: object[]) => ({ ...assistantMessage(blocks, 'stop', noUsage, ids), responseId });
  const turnStart = () => {
    const events = inTurn ? [] : [{ type: 'turn_start' }];
    inTurn = true;
    return events;
  };
  /** Returns the start of a turn and its message, unless one is open. */
  const open = () => {
    if (content !== null) return [];
    content = [];
    responseId = ids.id('msg_fake');
    const message = assistantMessage([], 'stop', noUsage, ids);
    return [...turnStart(), { type: 'message_start', message }];
  };
  return {
    turnStart,
    open,
    lastMessage: () => last,
    turnEnd(toolResults: object[]) {
      inTurn = false;
      return { type: 'turn_end', message: last, toolResults };
    },
    close(stopReason: string, extra: object = {}) {
      last = { ...assistantMessage(content ?? [], stopReason, usage(), ids), responseId, ...extra };
      content = null;
      return { type: 'message_end', message: last };
    },
    /** Returns one block of the open message, from its start over its deltas to its end. */
    block(kind: string, part: object, deltas: readonly string[], end: object) {
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
    },
  };
}

function userMessage(text: string, ids: Ids): object {
  return { role: 'user', content: [{ type: 'text', text }], timestamp: ids.time() };
}

function startAndEnd(message: object): object[] {
  return [
    { type: 'message_start', message },
    { type: 'message_end', message },
  ];
}

function assistantMessage(content: object[], stopReason: string, usage: Usage, ids: Ids): object {
  return {
    role: 'assistant',
    content,
    api: 'anthropic-messages',
    provider: 'fake',
    model: 'fake-model',
    usage: usageFields(usage),
    stopReason,
    timestamp: ids.time(),
  };
}

function usageFields(usage: Usage): object {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    totalTokens: totalTokens(usage),
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
