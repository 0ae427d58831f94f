import type { Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState } from '../adapter.ts';
import { contextOf, failedResult, sessionEvent, todoEvent, toolEnd, toolStart, usageOf } from '../events.ts';
import { asRecord, count, int, type JsonRecord, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { failureOf, readError } from '../limit.ts';

export type OpencodeState = ParserState & {
  sessionId: string | undefined;
  /** Text blocks since the last step started. */
  blocks: number;
  /** True if the last step ended with `stop`, and no other has started. */
  isStopped: boolean;
  /** True if the context overflowed, and no tool call followed. */
  isOverflowed: boolean;
};

export function newState(): OpencodeState {
  return { sessionId: undefined, blocks: 0, isStopped: false, isOverflowed: false };
}

export const parse = jsonLines((event, type, state: OpencodeState) => [
  ...onSession(str(event.sessionID), state),
  ...onEvent(event, type, state),
]);

/** Takes the session from the first event: all of them name it. */
function onSession(id: string | undefined, state: OpencodeState): AgentEvent[] {
  if (id === undefined || state.sessionId !== undefined) return [];
  state.sessionId = id;
  return [sessionEvent(id)];
}

function onEvent(event: JsonRecord, type: string, state: OpencodeState): AgentEvent[] {
  const part = asRecord(event.part);
  switch (type) {
    case 'step_start':
      state.blocks = 0;
      state.isStopped = false;
      return [];
    case 'text':
      return onText(part, state);
    case 'reasoning':
      return [];
    case 'tool_use':
      state.isOverflowed = false;
      return onTool(part);
    case 'step_finish':
      state.isStopped = part.reason === 'stop';
      return [{ type: 'usage', usage: readUsage(part) }, ...contextOf(readUsage(part)), ...onStepEnd(part)];
    case 'error':
      return onError(event, state);
  }
  return [{ type: 'unknown', name: type }];
}

function onText(part: JsonRecord, state: OpencodeState): AgentEvent[] {
  if (part.synthetic === true) return onSynthetic(state);
  const text = str(part.text) ?? '';
  if (text === '') return [];
  state.blocks++;
  return [{ type: 'text', text }];
}

/** Reads text that OpenCode writes as the user. After a stop it follows a compaction: the last text was a summary. */
function onSynthetic(state: OpencodeState): AgentEvent[] {
  if (!state.isStopped) return [];
  const { blocks } = state;
  state.blocks = 0;
  return [
    { type: 'retract', blocks },
    { type: 'notice', text: 'the context was compacted' },
  ];
}

/** Reads a tool call, which OpenCode reports only when it is over. */
function onTool(part: JsonRecord): AgentEvent[] {
  const { callID: id, tool: name } = part;
  const { status, input, output, error, metadata } = asRecord(part.state);
  // `completed` is also the status of a command that exits with 3, and of a call to an unknown tool.
  const end = {
    ok: status === 'completed' && name !== 'invalid',
    exitCode: int(asRecord(metadata).exit),
    output: str(output) ?? str(error) ?? '',
  };
  const todos = name === 'todowrite' ? [todoEvent(asRecord(input).todos)] : [];
  return [toolStart(id, name, asRecord(input)), toolEnd(id, end), ...todos];
}

/**
 * Reads the end of a step. `stop` may also end the summary of a compaction, after which the agent goes on: only the exit
 * of the process ends the turn. After other reasons the agent goes on, or an error follows.
 */
function onStepEnd({ reason }: JsonRecord): AgentEvent[] {
  if (reason === 'stop') return [{ type: 'result', ok: true, more: true }];
  if (reason === 'length') return [failedResult({ message: 'the answer was cut at the output limit' })];
  return [];
}

/** Reads the usage of a step: `input` excludes cached tokens, `output` excludes reasoning. */
function readUsage(part: JsonRecord): Usage {
  const tokens = asRecord(part.tokens);
  const cache = asRecord(tokens.cache);
  return usageOf({
    input: tokens.input,
    output: count(tokens.output) + count(tokens.reasoning),
    cacheRead: cache.read,
    cacheWrite: cache.write,
    cost: count(part.cost),
  });
}

/** A shorter wait belongs to a rate limit, not to a usage limit. */
const longWaitSeconds = 60;

const limitNames: Record<string, string> = {
  ProviderAuthError: 'authentication',
  ContextOverflowError: 'context_length',
};

/** Reads the error after the last retry. Only after an overflow does the agent compact and try again. */
function onError(event: JsonRecord, state: OpencodeState): AgentEvent[] {
  const error = asRecord(event.error);
  const name = str(error.name) ?? '';
  const data = asRecord(error.data);
  const message = str(data.message) || name || 'unknown error';
  const body = readError(str(data.responseBody) ?? '');
  const now = num(event.timestamp) ?? state.now;
  const retryAfter = Number(str(asRecord(data.responseHeaders)['retry-after']));
  const isLong = now !== undefined && retryAfter > longWaitSeconds;
  const failure = failureOf(message, {
    status: num(data.statusCode),
    type: limitNames[name] ?? body.type,
    message,
    resetsAt: body.resetsAt ?? (isLong ? now + retryAfter * 1000 : undefined),
  });
  const goesOn = name === 'ContextOverflowError' && !state.isOverflowed;
  state.isOverflowed ||= goesOn;
  return [goesOn ? { type: 'error', ...failure } : failedResult(failure)];
}
