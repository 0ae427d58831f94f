import { oneLine } from '../../core/text.ts';
import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { failedResult, sessionEvent, todoEvent, toolEnd, toolStart, usageOf } from '../events.ts';
import { asRecord, count, type JsonRecord, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type Failure, failureOf, readError } from '../limit.ts';
import { resetTimeIn } from '../reset-time.ts';

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
      return [sessionEvent(event.session_id, event.model)];
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

function onToolUse({ tool_id, tool_name, parameters }: JsonRecord): AgentEvent[] {
  const start = toolStart(tool_id, tool_name, parameters);
  if (tool_name !== 'write_todos') return [start];
  return [start, todoEvent(asRecord(parameters).todos, 'description')];
}

/** Reads a tool's end. Exit codes are not reported: a command that failed is a `success`, too. */
function onToolResult(event: JsonRecord): AgentEvent {
  const output = str(event.output) ?? str(asRecord(event.error).message) ?? '';
  return toolEnd(event.tool_id, { ok: event.status === 'success', output });
}

function onError(event: JsonRecord, state: GeminiState): AgentEvent {
  const text = str(event.message) ?? '';
  if (event.severity === 'warning') return { type: 'notice', text: oneLine(text) };
  return { type: 'error', ...readFailure(text, event, state) };
}

function onResult(event: JsonRecord, state: GeminiState): AgentEvent {
  const usage = event.stats === undefined ? undefined : readUsage(asRecord(event.stats));
  if (event.status === 'success')
    return { type: 'result', ok: true, ...(usage === undefined ? {} : { usage }) };
  const text = str(asRecord(event.error).message);
  // Of an empty answer, the error event before it has the message.
  return failedResult(text === undefined ? {} : readFailure(text, event, state), usage);
}

/** Reads the usage: `input` excludes cached tokens; the rest of `total_tokens` beyond input and output is thinking. */
function readUsage(stats: JsonRecord): Usage {
  const thoughts = count(stats.total_tokens) - count(stats.input_tokens) - count(stats.output_tokens);
  const output = count(stats.output_tokens) + Math.max(0, thoughts);
  return usageOf({ input: stats.input, output, cacheRead: stats.cached });
}

function readFailure(text: string, event: JsonRecord, state: GeminiState): Failure {
  const facts = readError(text);
  const time = Date.parse(str(event.timestamp) ?? '');
  const resetsAt = resetTimeIn(text, Number.isNaN(time) ? state.now : time);
  const failure = failureOf(facts.message || text, { ...facts, resetsAt });
  // "Exceeded your current quota" is also the message of limits by minute and by day, which end by themselves.
  if (failure.limit?.kind !== 'quota' || resetsAt === undefined) return failure;
  return { ...failure, limit: { ...failure.limit, kind: 'usage' } };
}
