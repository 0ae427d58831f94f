import type { Limit, Usage } from '../../core/turn.ts';
import type { AgentEvent, ParserState, TodoItem } from '../adapter.ts';
import { asRecord, count, int, type JsonRecord, list, num, str } from '../json.ts';
import { jsonLines } from '../json-lines.ts';
import { limitOf, readError } from '../limit.ts';
import { contextOf, todoStatus } from '../messages.ts';
import { summarise } from '../summary.ts';

export type OpencodeState = ParserState & {
  sessionId: string | undefined;
  /** Text blocks since the last step started. */
  blocks: number;
  /** The last step ended with `stop`, and no other one started since. */
  stopped: boolean;
  /** The context ran over, and no tool call came since. */
  overflowed: boolean;
};

export function newState(): OpencodeState {
  return { sessionId: undefined, blocks: 0, stopped: false, overflowed: false };
}

export const parse = jsonLines((event, type, state: OpencodeState) => [
  ...onSession(str(event.sessionID), state),
  ...onEvent(event, type, state),
]);

/** No event of its own tells the session: every event names it. */
function onSession(id: string | undefined, state: OpencodeState): AgentEvent[] {
  if (id === undefined || state.sessionId !== undefined) return [];
  state.sessionId = id;
  return [{ type: 'session', id }];
}

function onEvent(event: JsonRecord, type: string, state: OpencodeState): AgentEvent[] {
  const part = asRecord(event.part);
  switch (type) {
    case 'step_start':
      state.blocks = 0;
      state.stopped = false;
      return [];
    case 'text':
      return onText(part, state);
    case 'reasoning':
      return [];
    case 'tool_use':
      state.overflowed = false;
      return onTool(part);
    case 'step_finish':
      state.stopped = part.reason === 'stop';
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

/** What OpenCode says in the user's name. Only after a compaction does it tell the model to go on: that was a summary. */
function onSynthetic(state: OpencodeState): AgentEvent[] {
  if (!state.stopped) return [];
  const { blocks } = state;
  state.blocks = 0;
  return [
    { type: 'retract', blocks },
    { type: 'notice', text: 'the context was compacted' },
  ];
}

/** Told only when it is over: start and end in one. */
function onTool(part: JsonRecord): AgentEvent[] {
  const state = asRecord(part.state);
  const input = asRecord(state.input);
  const metadata = asRecord(state.metadata);
  const id = str(part.callID) ?? '';
  const name = str(part.tool) ?? 'tool';
  // `completed` stands for a command that exits with 3 too, and for a call to a tool that does not exist.
  const exitCode = int(metadata.exit);
  const ok = state.status === 'completed' && (exitCode ?? 0) === 0 && name !== 'invalid';
  const output = str(state.output) ?? str(state.error) ?? '';
  return [
    { type: 'tool-start', id, name, summary: summarise(input) },
    { type: 'tool-end', id, ok, ...(exitCode === undefined ? {} : { exitCode }), output },
    ...(name === 'todowrite' ? [{ type: 'todo', items: readTodos(input.todos) } as const] : []),
  ];
}

function readTodos(todos: unknown): TodoItem[] {
  return list(todos).map((todo) => {
    const { content, status } = asRecord(todo);
    return { text: str(content) ?? '', status: todoStatus(status) };
  });
}

/**
 * `stop` may also end the summary of a compaction, after which the agent goes on: only the exit of the process, which
 * follows at once, says that the turn is over. Other reasons go on or are followed by an error.
 */
function onStepEnd({ reason }: JsonRecord): AgentEvent[] {
  if (reason === 'stop') return [{ type: 'result', ok: true, more: true }];
  if (reason === 'length')
    return [{ type: 'result', ok: false, error: 'the answer was cut at the output limit' }];
  return [];
}

/** Told for each step; `input` is without the cached tokens, `output` without the reasoning. */
function readUsage(part: JsonRecord): Usage {
  const tokens = asRecord(part.tokens);
  const cache = asRecord(tokens.cache);
  return {
    inputTokens: count(tokens.input),
    outputTokens: count(tokens.output) + count(tokens.reasoning),
    cacheReadTokens: count(cache.read),
    cacheWriteTokens: count(cache.write),
    costUsd: count(part.cost),
  };
}

/** Comes when the retries are used up. Only after an overflow does the agent compact and try again, for ever. */
function onError(event: JsonRecord, state: OpencodeState): AgentEvent[] {
  const { name, data } = asRecord(event.error);
  const message = str(asRecord(data).message) || str(name) || 'unknown error';
  const limit = readLimit(str(name) ?? '', asRecord(data), message, num(event.timestamp) ?? state.now);
  const rest = limit === undefined ? {} : { limit };
  const goesOn = name === 'ContextOverflowError' && !state.overflowed;
  state.overflowed ||= goesOn;
  return goesOn
    ? [{ type: 'error', message, ...rest }]
    : [{ type: 'result', ok: false, error: message, ...rest }];
}

/** Shorter waits are part of a rate limit and no usage limit. */
const longWaitSeconds = 60;

const limitNames: Record<string, string> = {
  ProviderAuthError: 'authentication',
  ContextOverflowError: 'context_length',
};

function readLimit(
  name: string,
  data: JsonRecord,
  message: string,
  now: number | undefined,
): Limit | undefined {
  const body = readError(str(data.responseBody) ?? '');
  const retryAfter = Number(str(asRecord(data.responseHeaders)['retry-after']));
  const waits = now !== undefined && retryAfter > longWaitSeconds;
  return limitOf({
    status: num(data.statusCode),
    type: limitNames[name] ?? body.type,
    message,
    resetsAt: body.resetsAt ?? (waits ? now + retryAfter * 1000 : undefined),
  });
}
