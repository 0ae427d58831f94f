import { oneLine } from '../../core/text.ts';
import type { Limit, Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asRecord, count, type JsonRecord, list, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { limitOf, readError } from '../limit.ts';
import { sessionEvent, todoStatus } from '../messages.ts';
import { resetTimeIn } from '../reset-time.ts';
import { summarise } from '../summary.ts';

export type GeminiState = ParserState & {
  /** True if the last event was a part of an answer, which the next part continues. */
  answering: boolean;
};

export function newState(): GeminiState {
  return { answering: false };
}

export const parse = jsonLines((event, type, state: GeminiState) => {
  if (type === 'message') return onMessage(event, state);
  state.answering = false;
  switch (type) {
    case 'init':
      return [sessionEvent(event)];
    case 'tool_use':
      return onToolUse(event);
    case 'tool_result':
      return [onToolResult(event)];
    case 'error':
      return [onError(event, state)];
    case 'result':
      return [onResult(event, state)];
  }
  return [{ type: 'unknown', name: type }];
});

/** Reads a message: answers come in parts that may split a tag; those of the user repeat the prompt. */
function onMessage(event: JsonRecord, state: GeminiState): AgentEvent[] {
  const delta = event.delta === true && state.answering;
  state.answering = event.role === 'assistant';
  if (!state.answering) return [];
  return [{ type: 'text', text: str(event.content) ?? '', ...(delta ? { delta } : {}) }];
}

function onToolUse(event: JsonRecord): AgentEvent[] {
  const name = str(event.tool_name) ?? 'tool';
  const input = asRecord(event.parameters);
  const start: AgentEvent = {
    type: 'tool-start',
    id: str(event.tool_id) ?? '',
    name,
    summary: summarise(input),
  };
  if (name !== 'write_todos') return [start];
  const items = list(input.todos).map((todo) => {
    const { description, status } = asRecord(todo);
    return { text: str(description) ?? '', status: todoStatus(status) };
  });
  return [start, { type: 'todo', items }];
}

/** Reads a tool's end. Exit codes are not reported: a command that failed is a `success`, too. */
function onToolResult(event: JsonRecord): AgentEvent {
  return {
    type: 'tool-end',
    id: str(event.tool_id) ?? '',
    ok: event.status === 'success',
    output: str(event.output) ?? str(asRecord(event.error).message) ?? '',
  };
}

function onError(event: JsonRecord, state: GeminiState): AgentEvent {
  const text = str(event.message) ?? '';
  if (event.severity === 'warning') return { type: 'notice', text: oneLine(text) };
  return { type: 'error', ...readFailure(text, event, state) };
}

function onResult(event: JsonRecord, state: GeminiState): AgentEvent {
  const usage = event.stats === undefined ? {} : { usage: readUsage(asRecord(event.stats)) };
  if (event.status === 'success') return { type: 'result', ok: true, ...usage };
  const text = str(asRecord(event.error).message);
  // An empty answer: the error event before it has the message.
  if (text === undefined) return { type: 'result', ok: false, ...usage };
  const { message: error, ...rest } = readFailure(text, event, state);
  return { type: 'result', ok: false, error, ...rest, ...usage };
}

/** Reads the usage: `input` excludes cached tokens; the rest of `total_tokens` beyond input and output is thinking. */
function readUsage(stats: JsonRecord): Usage {
  const thoughts = count(stats.total_tokens) - count(stats.input_tokens) - count(stats.output_tokens);
  return {
    inputTokens: count(stats.input),
    outputTokens: count(stats.output_tokens) + Math.max(0, thoughts),
    cacheReadTokens: count(stats.cached),
    cacheWriteTokens: 0,
  };
}

function readFailure(
  text: string,
  event: JsonRecord,
  state: GeminiState,
): { message: string; limit?: Limit } {
  const facts = readError(text);
  const time = Date.parse(str(event.timestamp) ?? '');
  const resetsAt = resetTimeIn(text, Number.isNaN(time) ? state.now : time);
  const limit = limitOf({ ...facts, resetsAt });
  const message = facts.message || text;
  if (limit === undefined) return { message };
  // "Exceeded your current quota" is also the message of limits by minute and by day, which end by themselves.
  const kind = limit.kind === 'quota' && resetsAt !== undefined ? 'usage' : limit.kind;
  return { message, limit: { ...limit, kind } };
}
