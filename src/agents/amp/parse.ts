import type { AgentEvent } from '../adapter.ts';
import { asSubagent, contextOf, failedResult, toolEnd } from '../events.ts';
import { asRecord, int, type JsonRecord, parseRecord, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { failureOf, readError } from '../limit.ts';
import {
  answerIn,
  readAssistant,
  readSystem,
  readToolResults,
  readUsage,
  type SpeakerState,
  type ToolResult,
} from '../messages.ts';

export function newState(): SpeakerState {
  return { spoke: false };
}

export const parse = jsonLines((event, type, state: SpeakerState) => {
  const own = typeof event.parent_tool_use_id !== 'string';
  if (type === 'system') return [readSystem(event)];
  if (type === 'assistant') return onAssistant(asRecord(event.message), own, state);
  // The first of these repeats the prompt.
  if (type === 'user') return own ? readToolResults(asRecord(event.message)).map(onToolResult) : [];
  if (type === 'result') return onResult(event, state);
  return [{ type: 'unknown', name: type }];
});

/** Each event has a whole message with its final usage; the result event has none, except in old versions. */
function onAssistant(message: JsonRecord, own: boolean, state: SpeakerState): AgentEvent[] {
  const events = readAssistant(message);
  const usage = readUsage(asRecord(message.usage));
  const usageEvent: AgentEvent[] = message.usage === undefined ? [] : [{ type: 'usage', usage }];
  if (!own) return [...asSubagent(events), ...usageEvent];
  state.spoke ||= events.some(({ type }) => type === 'text');
  return [...contextOf(usage), ...events, ...usageEvent];
}

/** A command's result is JSON in a string, with `is_error` false whatever its exit code. */
function onToolResult(result: ToolResult): AgentEvent {
  const shell = parseRecord(result.output);
  const exitCode = int(shell?.exitCode);
  const output = exitCode === undefined ? result.output : (str(shell?.output) ?? '');
  return toolEnd(result.id, { ok: result.ok, output, exitCode });
}

function onResult(event: JsonRecord, state: SpeakerState): AgentEvent[] {
  if (event.is_error === true || (str(event.subtype) ?? '').startsWith('error')) {
    const text = str(event.error) ?? str(event.subtype) ?? 'failed';
    const error = readError(text);
    return [failedResult(failureOf(error.message ?? text, error))];
  }
  const usage = event.usage === undefined ? {} : { usage: readUsage(asRecord(event.usage)) };
  return [...answerIn(event, state), { type: 'result', ok: true, ...usage }];
}
