import type { Limit, Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { asRecord, count, type JsonRecord, list, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { limitOf, readError } from '../limit.ts';
import { contextOf, textOf } from '../messages.ts';
import { resetTimeIn } from '../reset-time.ts';
import { summarise } from '../summary.ts';

export type PiState = ParserState & {
  /** How the last message of the assistant ended. */
  stop: string;
  failure: { message: string; limit?: Limit } | undefined;
};

export function newState(): PiState {
  return { stop: '', failure: undefined };
}

const silent = new Set([
  'agent_start',
  'compaction_end',
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
      return [{ type: 'session', id: str(event.id) ?? '' }];
    case 'message_end':
      return onMessage(asRecord(event.message), state);
    case 'tool_execution_start':
      return [onToolStart(event)];
    case 'tool_execution_end':
      return [onToolEnd(event)];
    case 'auto_retry_start':
      return [
        { type: 'notice', text: `retry ${num(event.attempt) ?? '?'} of ${num(event.maxAttempts) ?? '?'}` },
      ];
    case 'auto_retry_end':
      return event.success === false ? [failedResult(state)] : [];
    case 'compaction_start':
      return [{ type: 'notice', text: 'compacts the context' }];
    case 'agent_end':
      return [onEnd(state)];
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
    const usage = readUsage(asRecord(message.usage));
    events.push({ type: 'usage', usage }, ...contextOf(usage));
  }
  if (state.stop === 'error') {
    state.failure = readFailure(str(message.errorMessage) ?? '', state);
    events.push({ type: 'error', ...state.failure });
  }
  return events;
}

function onToolStart(event: JsonRecord): AgentEvent {
  return {
    type: 'tool-start',
    id: str(event.toolCallId) ?? '',
    name: str(event.toolName) ?? 'tool',
    summary: summarise(event.args),
  };
}

function onToolEnd(event: JsonRecord): AgentEvent {
  const output = textOf(asRecord(event.result).content);
  const ok = event.isError !== true;
  const code = ok ? undefined : /\nCommand exited with code (\d{1,3})$/.exec(`\n${output}`)?.[1];
  return {
    type: 'tool-end',
    id: str(event.toolCallId) ?? '',
    ok,
    ...(code === undefined ? {} : { exitCode: Number(code) }),
    output,
  };
}

/** Judges the turn by the last message, since the exit code is always 0. After an error a retry or a compaction may follow. */
function onEnd(state: PiState): AgentEvent {
  if (state.failure !== undefined) return { ...failedResult(state), more: true };
  if (state.stop === 'stop') return { type: 'result', ok: true };
  const error = state.stop === 'length' ? 'the answer was cut at the output limit' : `stopped: ${state.stop}`;
  return { type: 'result', ok: false, error };
}

function failedResult({ failure }: PiState): Extract<AgentEvent, { type: 'result' }> {
  const limit = failure?.limit;
  return {
    type: 'result',
    ok: false,
    error: failure?.message ?? 'gave up after its retries',
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Reads the usage of a message: `input` excludes cached tokens. */
function readUsage(usage: JsonRecord): Usage {
  const cost = num(asRecord(usage.cost).total);
  return {
    inputTokens: count(usage.input),
    outputTokens: count(usage.output),
    cacheReadTokens: count(usage.cacheRead),
    cacheWriteTokens: count(usage.cacheWrite),
    ...(cost === undefined ? {} : { costUsd: count(cost) }),
  };
}

function readFailure(text: string, state: PiState): { message: string; limit?: Limit } {
  const facts = readError(text);
  const limit = limitOf({ ...facts, resetsAt: facts.resetsAt ?? resetTimeIn(text, state.now) });
  return { message: facts.message || 'unknown error', ...(limit === undefined ? {} : { limit }) };
}
