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

/** The API error that ended the last message, if it did. */
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
  // Parts of messages that come whole as well.
  return type === 'stream_event' ? [] : [{ type: 'unknown', name: type }];
});

/** How it tells an API error: as a message of the assistant, after which the result claims success. */
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

/** The exit code is only told where the command printed nothing. */
const exitCodes = [/^Command exited with code: (\d{1,3})$/, /^Command: [\s\S]*\nExit Code: (\d{1,3})\n/];

function onToolResult(result: ToolResult): AgentEvent {
  const code = exitCodes
    .map((pattern) => pattern.exec(result.output)?.[1])
    .find((found) => found !== undefined);
  return toolEnd(result, code === undefined ? undefined : Number(code));
}

function onResult(event: JsonRecord, { apiError: failed, resumed }: QwenState): AgentEvent {
  const ok =
    failed === undefined && event.is_error !== true && !(str(event.subtype) ?? '').startsWith('error');
  // Only this total has subagents and side requests; of a resumed session it has the earlier turns as well.
  const usage = resumed ? {} : { usage: usageOf(event.usage) };
  if (ok) return { type: 'result', ok, ...usage };
  const told = str(event.result) ?? '';
  const error = str(asRecord(event.error).message) || apiError.exec(told)?.[1] || told || 'failed';
  const limit = limitOf(failed ?? readError(error));
  return { type: 'result', ok, error, ...(limit === undefined ? {} : { limit }), ...usage };
}
