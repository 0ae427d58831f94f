import type { TodoItem } from '../../agents/adapter.ts';
import { totalTokens, type Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';
import { openAiError } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
  todoStatus,
  usageOnce,
} from './format.ts';

/** `opencode run --format json`, as 1.18.33 prints it: a tool call only when it is over, the end as a step's reason. */
export const opencode: AgentFormat = {
  version: '1.18.33',
  streamWords: ['json'],
  exitCode: () => 1,
  open({ turn, usage: total }) {
    const ids = createIds(turn);
    const sessionID = ids.id('ses_fake');
    const usage = usageOnce(total);
    let messageID: string | null = null;

    const part = (type: string, name: string, fields: object) => ({
      type,
      timestamp: ids.time(),
      sessionID,
      part: { id: ids.id('prt_fake'), messageID, sessionID, type: name, ...fields },
    });
    const time = () => ({ start: ids.time(), end: ids.time() });
    /** Returns the start of a step, unless one is open. */
    const open = () => {
      if (messageID !== null) return [];
      messageID = ids.id('msg_fake');
      return [part('step_start', 'step-start', {})];
    };
    const close = (reason: 'stop' | 'tool-calls') => {
      const event = part('step_finish', 'step-finish', { reason, ...usageFields(usage()) });
      messageID = null;
      return event;
    };
    const toolUse = (tool: string, state: object) => {
      const fields = { tool, callID: ids.id('call_fake'), state: { ...state, time: time() } };
      return lines(...open(), part('tool_use', 'tool', fields), close('tool-calls'));
    };

    return {
      ...silent,
      text: (parts) => lines(...open(), ...parts.map((text) => part('text', 'text', { text, time: time() }))),
      toolStart: () => lines(...open()),
      toolEnd: (call, end) => toolUse(nameOf(call), { input: inputOf(call), ...reply(call, end) }),
      todo: (items) => toolUse('todowrite', todoState(items)),
      error: (error) => lines({ type: 'error', timestamp: ids.time(), sessionID, error: errorFields(error) }),
      result: ({ ok }) => (ok ? lines(...open(), close('stop')) : ''),
    };
  },
};

function usageFields(usage: Usage): object {
  const tokens = {
    total: totalTokens(usage),
    input: usage.inputTokens,
    output: usage.outputTokens,
    reasoning: 0,
    cache: { write: usage.cacheWriteTokens, read: usage.cacheReadTokens },
  };
  return { tokens, cost: usage.costUsd ?? 0 };
}

function todoState(items: readonly TodoItem[]): object {
  const todos = items.map(({ text, status }) => ({
    content: text,
    status: todoStatus(status),
    priority: 'medium',
  }));
  return {
    status: 'completed',
    input: { todos },
    output: JSON.stringify(todos, null, 2),
    metadata: { todos, truncated: false },
    title: `${todos.length} todos`,
  };
}

function errorFields(error: ApiError): object {
  return {
    name: 'APIError',
    data: {
      message: error.message,
      statusCode: error.status,
      isRetryable: error.status === 429 || error.status >= 500,
      responseHeaders: { 'content-type': 'application/json' },
      responseBody: JSON.stringify({ error: openAiError(error) }),
    },
  };
}

function nameOf(call: ToolCall): string {
  if (call.kind === 'other') return call.name;
  return call.kind === 'shell' ? 'bash' : 'write';
}

function inputOf(call: ToolCall): object {
  if (call.kind === 'shell') return { command: call.command };
  return call.kind === 'write' ? { filePath: call.path, content: call.content } : call.input;
}

/** A command that exits with 3 is "completed" too; its exit code is in the metadata. */
function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) {
    const title = call.kind === 'shell' ? call.command : nameOf(call);
    return { status: 'completed', output, metadata: { output, exit: exitCode, truncated: false }, title };
  }
  if (!ok) return { status: 'error', error: output };
  if (call.kind !== 'write')
    return { status: 'completed', output, metadata: { truncated: false }, title: nameOf(call) };
  const metadata = { diagnostics: {}, filepath: call.path, exists: call.existed, truncated: false };
  return { status: 'completed', output: 'Wrote file successfully.', metadata, title: call.path };
}
