import type { AgentEvent } from '../adapter.ts';
import { asRecord, type JsonRecord, num, parseRecord, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { limitOf, readError } from '../limit.ts';
import {
  asSubagent,
  contextOf,
  readAssistant,
  readSystem,
  readToolResults,
  readUsage,
  type ToolResult,
  toolEnd,
} from '../messages.ts';

export const parse = jsonLines((event, type) => {
  const own = typeof event.parent_tool_use_id !== 'string';
  if (type === 'system') return [readSystem(event)];
  if (type === 'assistant') return onAssistant(asRecord(event.message), own);
  // The first of these repeats the prompt.
  if (type === 'user') return own ? readToolResults(asRecord(event.message)).map(onToolResult) : [];
  if (type === 'result') return [onResult(event)];
  return [{ type: 'unknown', name: type }];
});

/** Each event has a whole message with its final usage; the result event has none, except in old versions. */
function onAssistant(message: JsonRecord, own: boolean): AgentEvent[] {
  const events = readAssistant(message);
  if (message.usage === undefined) return own ? events : asSubagent(events);
  const usage = readUsage(asRecord(message.usage));
  const usageEvent: AgentEvent = { type: 'usage', usage };
  return own ? [...contextOf(usage), ...events, usageEvent] : [...asSubagent(events), usageEvent];
}

/** A command's result is JSON in a string, with `is_error` false whatever its exit code. */
function onToolResult(result: ToolResult): AgentEvent {
  const shell = parseRecord(result.output);
  const exitCode = num(shell?.exitCode);
  if (exitCode === undefined || !Number.isInteger(exitCode)) return toolEnd(result);
  return toolEnd({ ...result, output: str(shell?.output) ?? '' }, exitCode);
}

function onResult(event: JsonRecord): AgentEvent {
  const ok = event.is_error !== true && !(str(event.subtype) ?? '').startsWith('error');
  if (ok)
    return event.usage === undefined
      ? { type: 'result', ok }
      : { type: 'result', ok, usage: readUsage(asRecord(event.usage)) };
  const text = str(event.error) ?? str(event.subtype) ?? 'failed';
  const error = readError(text);
  const limit = limitOf(error);
  return { type: 'result', ok, error: error.message ?? text, ...(limit === undefined ? {} : { limit }) };
}
