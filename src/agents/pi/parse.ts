import type { AgentEvent, ParserState } from '../adapter.ts';
import {
  contextOf,
  exitCodeIn,
  failedResult,
  sessionEvent,
  textOf,
  toolEnd,
  toolStart,
  usageOf,
} from '../events.ts';
import { asRecord, type JsonRecord, list, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { type Failure, failureOf, readError } from '../limit.ts';
import { resetTimeIn } from '../reset-time.ts';

export type PiState = ParserState & {
  /** How the last message of the assistant ended. */
  stop: string;
  failure: Failure | undefined;
};

export function newState(): PiState {
  return { stop: '', failure: undefined };
}

const silent = new Set([
  'agent_start',
  'compaction_end',
  'entry_appended',
  'message_start',
  'message_update',
  'queue_update',
  'session_info_changed',
  'thinking_level_changed',
  'tool_execution_update',
  'turn_end',
  'turn_start',
]);

export function parse(line: string, state: PiState): AgentEvent[] {
  // Each of these repeats the whole message so far twice: parsing them takes quadratic time.
  return line.startsWith('{"type":"message_update"') ? [] : parseEvent(line, state);
}

const parseEvent = jsonLines((event, type, state: PiState) => {
  if (silent.has(type)) return [];
  switch (type) {
    case 'session':
      return [sessionEvent(event.id)];
    case 'message_end':
      return onMessage(asRecord(event.message), state);
    case 'tool_execution_start':
      return [toolStart(event.toolCallId, event.toolName, event.args)];
    case 'tool_execution_end':
      return [onToolEnd(event)];
    case 'auto_retry_start':
      return [
        { type: 'notice', text: `retry ${num(event.attempt) ?? '?'} of ${num(event.maxAttempts) ?? '?'}` },
      ];
    case 'auto_retry_end':
      return event.success === false ? [onGiveUp(state)] : [];
    case 'compaction_start':
      return [{ type: 'notice', text: 'compacts the context' }];
    case 'agent_end':
      return [onEnd(state)];
    // Since 0.74: nothing follows the last `agent_end`.
    case 'agent_settled':
      return state.failure === undefined ? [] : [onGiveUp(state)];
  }
  return [{ type: 'unknown', name: type }];
});

/** Reads a message of the assistant; those of the user and of tools have this event, too. */
function onMessage(message: JsonRecord, state: PiState): AgentEvent[] {
  if (message.role !== 'assistant') return [];
  state.stop = str(message.stopReason) ?? '';
  state.failure = undefined;
  const events = list(message.content)
    .map(asRecord)
    .filter((block) => block.type === 'text')
    .map((block): AgentEvent => ({ type: 'text', text: str(block.text) ?? '' }));
  if (message.usage !== undefined) {
    const { cost, ...tokens } = asRecord(message.usage);
    const usage = usageOf({ ...tokens, cost: asRecord(cost).total });
    events.push({ type: 'usage', usage }, ...contextOf(usage));
  }
  if (state.stop === 'error') {
    const text = str(message.errorMessage) ?? '';
    const facts = readError(text);
    const resetsAt = facts.resetsAt ?? resetTimeIn(text, state.now);
    state.failure = failureOf(facts.message || 'unknown error', { ...facts, resetsAt });
    events.push({ type: 'error', ...state.failure });
  }
  return events;
}

function onToolEnd({ toolCallId, result, isError }: JsonRecord): AgentEvent {
  const output = textOf(asRecord(result).content);
  const ok = isError !== true;
  const exitCode = ok ? undefined : exitCodeIn(`\n${output}`, /\nCommand exited with code (\d{1,3})$/);
  return toolEnd(toolCallId, { ok, output, exitCode });
}

/** Judges the turn by the last message, since the exit code is always 0. After an error a retry or a compaction may follow. */
function onEnd(state: PiState): AgentEvent {
  if (state.failure !== undefined) return { ...failedResult(state.failure), more: true };
  if (state.stop === 'stop') return { type: 'result', ok: true };
  const isCut = state.stop === 'length';
  return failedResult({
    message: isCut ? 'the answer was cut at the output limit' : `stopped: ${state.stop}`,
  });
}

function onGiveUp({ failure }: PiState): AgentEvent {
  return failedResult(failure ?? { message: 'gave up after its retries' });
}
