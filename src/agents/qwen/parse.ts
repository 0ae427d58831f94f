import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import {
  asSubagent,
  contextOf,
  exitCodeIn,
  failedResult,
  textOf,
  toolEnd,
  usageWithCache,
} from '../events.ts';
import { asRecord, type JsonRecord, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type ErrorFacts, failureOf, readError } from '../limit.ts';
import { readAssistant, readSystem, readToolResults, type ToolResult, tokensIn } from '../messages.ts';

/** State with the API error that ended the last message, if there was one. */
export type QwenState = ParserState & { apiError: ErrorFacts | undefined };

export function newState(): QwenState {
  return { apiError: undefined };
}

export const parse = jsonLines((event, type, state: QwenState) => {
  const own = typeof event.parent_tool_use_id !== 'string';
  if (type === 'system') return [event.subtype === 'retry' ? retryNotice : readSystem(event)];
  if (type === 'assistant') return onAssistant(asRecord(event.message), own, state);
  if (type === 'user') return own ? readToolResults(asRecord(event.message)).map(onToolResult) : [];
  if (type === 'result') return [onResult(event, state)];
  // Parts of messages that also come whole.
  return type === 'stream_event' ? [] : [{ type: 'unknown', name: type }];
});

const retryNotice: AgentEvent = { type: 'notice', text: 'asks the model again' };

/** Format of an API error: a message of the assistant, after which the result of 0.15 reports success. */
const apiError = /^\[API Error: ([\s\S]*)\]$/;

function onAssistant(message: JsonRecord, own: boolean, state: QwenState): AgentEvent[] {
  const usage = readUsage(message.usage);
  const usageEvent: AgentEvent = { type: 'usage', usage };
  if (!own) return [...asSubagent(readAssistant(message)), usageEvent];
  const failure = apiError.exec(textOf(message.content).trim())?.[1];
  state.apiError = failure === undefined ? undefined : errorIn(failure);
  if (failure === undefined) return [...contextOf(usage), ...readAssistant(message), usageEvent];
  return [{ type: 'error', ...failureOf(failure, errorIn(failure)) }, usageEvent];
}

function errorIn(message: string): ErrorFacts {
  return { ...readError(`error: ${message}`), message };
}

/** `input_tokens` includes the cached ones. */
function readUsage(usage: unknown): Usage {
  return usageWithCache(tokensIn(asRecord(usage)));
}

/** The exit code is in the output only if the command printed nothing. */
const exitCodes = [/^Command exited with code: (\d{1,3})$/, /^Command: [\s\S]*\nExit Code: (\d{1,3})\n/];

function onToolResult({ id, ok, output }: ToolResult): AgentEvent {
  return toolEnd(id, { ok, output, exitCode: exitCodeIn(output, ...exitCodes) });
}

function onResult(event: JsonRecord, { apiError: failure, resumed }: QwenState): AgentEvent {
  const ok =
    failure === undefined && event.is_error !== true && !(str(event.subtype) ?? '').startsWith('error');
  // Only this total includes subagents and side requests; in a resumed session it also includes earlier turns.
  const usage = resumed ? undefined : readUsage(event.usage);
  if (ok) return { type: 'result', ok, ...(usage === undefined ? {} : { usage }) };
  const text = str(asRecord(event.error).message) || str(event.result) || 'failed';
  const error = apiError.exec(text)?.[1] ?? text;
  return failedResult(failureOf(error, failure ?? readError(error)), usage);
}
