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
  return [{ type: 'session', id }];
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
  const state = asRecord(part.state);
  const input = asRecord(state.input);
  const metadata = asRecord(state.metadata);
  const id = str(part.callID) ?? '';
  const name = str(part.tool) ?? 'tool';
  // `completed` is also the status of a command that exits with 3, and of a call to an unknown tool.
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
 * Reads the end of a step. `stop` may also end the summary of a compaction, after which the agent goes on: only the exit
 * of the process ends the turn. After other reasons the agent goes on, or an error follows.
 */
function onStepEnd({ reason }: JsonRecord): AgentEvent[] {
  if (reason === 'stop') return [{ type: 'result', ok: true, more: true }];
  if (reason === 'length')
    return [{ type: 'result', ok: false, error: 'the answer was cut at the output limit' }];
  return [];
}

/** Reads the usage of a step: `input` excludes cached tokens, `output` excludes reasoning. */
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

/** Reads the error after the last retry. Only after an overflow does the agent compact and try again. */
function onError(event: JsonRecord, state: OpencodeState): AgentEvent[] {
  const { name, data } = asRecord(event.error);
  const message = str(asRecord(data).message) || str(name) || 'unknown error';
  const limit = readLimit(str(name) ?? '', asRecord(data), message, num(event.timestamp) ?? state.now);
  const rest = limit === undefined ? {} : { limit };
  const goesOn = name === 'ContextOverflowError' && !state.isOverflowed;
  state.isOverflowed ||= goesOn;
  return goesOn
    ? [{ type: 'error', message, ...rest }]
    : [{ type: 'result', ok: false, error: message, ...rest }];
}

/** A shorter wait belongs to a rate limit, not to a usage limit. */
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
  const isLong = now !== undefined && retryAfter > longWaitSeconds;
  return limitOf({
    status: num(data.statusCode),
    type: limitNames[name] ?? body.type,
    message,
    resetsAt: body.resetsAt ?? (isLong ? now + retryAfter * 1000 : undefined),
  });
}
