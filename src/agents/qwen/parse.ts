import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asRecord, type JsonRecord, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type ErrorFacts, limitOf, readError } from '../limit.ts';
import {
  asSubagent,
  contextOf,
  readAssistant,
  readSystem,
  readToolResults,
  readUsage,
  type ToolResult,
  textOf,
  toolEnd,
} from '../messages.ts';

/** State with the API error that ended the last message, if there was one. */
export type QwenState = ParserState & { apiError: ErrorFacts | undefined };

export function newState(): QwenState {
  return { apiError: undefined };
}

export const parse = jsonLines((event, type, state: QwenState) => {
  const own = typeof event.parent_tool_use_id !== 'string';
  if (type === 'system') return [readSystem(event)];
  if (type === 'assistant') return onAssistant(asRecord(event.message), own, state);
  if (type === 'user') return own ? readToolResults(asRecord(event.message)).map(onToolResult) : [];
  if (type === 'result') return [onResult(event, state)];
  // Parts of messages that also come whole.
  return type === 'stream_event' ? [] : [{ type: 'unknown', name: type }];
});

/** Format of an API error: a message of the assistant, after which the result reports success. */
const apiError = /^\[API Error: ([\s\S]*)\]$/;

function onAssistant(message: JsonRecord, own: boolean, state: QwenState): AgentEvent[] {
  const usage: AgentEvent = { type: 'usage', usage: usageOf(message.usage) };
  if (!own) return [...asSubagent(readAssistant(message)), usage];
  const failure = apiError.exec(textOf(message.content).trim())?.[1];
  state.apiError = failure === undefined ? undefined : readError(`error: ${failure}`);
  if (failure === undefined) {
    return [...contextOf(usageOf(message.usage)), ...readAssistant(message), usage];
  }
  const limit = limitOf({ ...state.apiError, message: failure });
  return [{ type: 'error', message: failure, ...(limit === undefined ? {} : { limit }) }, usage];
}

/** `input_tokens` includes the cached ones. */
function usageOf(usage: unknown): Usage {
  const { inputTokens, ...rest } = readUsage(asRecord(usage));
  return { ...rest, inputTokens: Math.max(0, inputTokens - rest.cacheReadTokens) };
}

/** The exit code is in the output only if the command printed nothing. */
const exitCodes = [/^Command exited with code: (\d{1,3})$/, /^Command: [\s\S]*\nExit Code: (\d{1,3})\n/];

function onToolResult(result: ToolResult): AgentEvent {
  const code = exitCodes
    .map((pattern) => pattern.exec(result.output)?.[1])
    .find((digits) => digits !== undefined);
  return toolEnd(result, code === undefined ? undefined : Number(code));
}

function onResult(event: JsonRecord, { apiError: failure, resumed }: QwenState): AgentEvent {
  const ok =
    failure === undefined && event.is_error !== true && !(str(event.subtype) ?? '').startsWith('error');
  // Only this total includes subagents and side requests; in a resumed session it also includes earlier turns.
  const usage = resumed ? {} : { usage: usageOf(event.usage) };
  if (ok) return { type: 'result', ok, ...usage };
  const result = str(event.result) ?? '';
  const error = str(asRecord(event.error).message) || apiError.exec(result)?.[1] || result || 'failed';
  const limit = limitOf(failure ?? readError(error));
  return { type: 'result', ok, error, ...(limit === undefined ? {} : { limit }), ...usage };
}
