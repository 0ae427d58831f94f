import { addUsage, type ContextSize, type Limit, type Turn, type TurnEnd, type Usage } from '../core/turn.ts';
import type { AgentAdapter, AgentEvent } from './adapter.ts';
import { isRefusal } from './refusal.ts';
import { createTextCollector, type TextCollector } from './text.ts';

/** Why the process ended. `finished`: we ended it after its result. `idle`, `hard-timeout`, `stopped`: before it. */
export type EndCause = 'exited' | 'finished' | 'idle' | 'hard-timeout' | 'stopped' | 'not-started';

type ProcessEnd = {
  readonly exitCode: number | null;
  readonly cause: EndCause;
  /** End of the agent's standard error, for the message when it failed. */
  readonly stderrTail?: string;
};

/** Turn by its stream; the driver adds progress and times. */
export type StreamedTurn = Pick<
  Turn,
  'text' | 'toolCalls' | 'allRefused' | 'end' | 'exitCode' | 'usage' | 'limit' | 'error'
> & {
  readonly sessionId?: string;
  readonly model?: string;
  /** Largest size of the context. */
  readonly context?: ContextSize;
  /** Number of events that the adapter does not know, by name. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Tool calls that failed or were denied: not work, but a sign of life. */
  readonly failedCalls: number;
  /** True if the stream reported the end of the turn. */
  readonly ended: boolean;
};

type ResultEvent = Extract<AgentEvent, { type: 'result' }>;

const maxUnknownNames = 100;
const maxPlainLines = 10_000;

export type TurnReaderOptions = {
  /** Clock, for reset times in messages without a date. */
  readonly now?: () => number;
  /** True if the turn continues a session, whose usage may include earlier turns. */
  readonly resumed?: boolean;
  /** True if plain text instead of events is an answer, for a script in the agent's place. */
  readonly plainText?: boolean;
};

export type TurnReader = ReturnType<typeof createTurnReader>;

/** Reads one turn of one agent line by line, and folds its events into a turn. */
export function createTurnReader(adapter: AgentAdapter, { now, resumed, plainText }: TurnReaderOptions = {}) {
  const state = adapter.newState();
  if (resumed !== undefined) state.resumed = resumed;
  const fold: Fold = {
    text: createTextCollector(),
    unknown: new Map(),
    toolCalls: 0,
    failedCalls: 0,
    refusedCalls: 0,
  };
  const plain: string[] = [];
  return {
    /** Reads one line of standard output and returns its events. */
    push(line: string): AgentEvent[] {
      if (now !== undefined) state.now = now();
      const events = adapter.parse(line, state);
      for (const event of events) addEvent(fold, event);
      if (plainText && isPlain(line, events) && plain.length < maxPlainLines) plain.push(line);
      return events;
    },
    /** True once the stream reported the end of the turn: the process may be ended. */
    get ended(): boolean {
      return hasEnded(fold);
    },
    finish: (process: ProcessEnd) => finishTurn(adapter, fold, process, plain),
  };
}

/** State of a turn after the events so far. */
type Fold = {
  readonly text: TextCollector;
  readonly unknown: Map<string, number>;
  toolCalls: number;
  failedCalls: number;
  refusedCalls: number;
  sessionId?: string;
  model?: string;
  usage?: Usage;
  context?: ContextSize;
  trouble?: Extract<AgentEvent, { type: 'error' }> | undefined;
  result?: ResultEvent | undefined;
};

function addEvent(fold: Fold, event: AgentEvent): void {
  switch (event.type) {
    case 'session':
      fold.sessionId = event.id;
      if (event.model !== undefined) fold.model = event.model;
      return;
    case 'text':
      fold.text.add(event.text, event.delta);
      goOn(fold);
      return;
    case 'retract':
      fold.text.retract(event.blocks);
      fold.result = undefined;
      return;
    case 'tool-start':
      fold.toolCalls++;
      goOn(fold);
      return;
    case 'tool-end':
      if (!event.ok) fold.failedCalls++;
      if (!event.ok && isRefusal(event.output)) fold.refusedCalls++;
      return;
    case 'usage':
      fold.usage = fold.usage === undefined ? event.usage : addUsage(fold.usage, event.usage);
      return;
    case 'context':
      fold.context = fuller(fold.context, event.size);
      return;
    case 'error':
      fold.trouble = event;
      return;
    case 'result':
      fold.result = event;
      return;
    case 'unknown':
      countUnknown(fold.unknown, event.name);
      return;
  }
}

/** The agent is at work: an error is overcome, and a result that was not the last is out of date. */
function goOn(fold: Fold): void {
  fold.trouble = undefined;
  if (fold.result?.more) fold.result = undefined;
}

function countUnknown(unknown: Map<string, number>, name: string): void {
  if (!unknown.has(name) && unknown.size >= maxUnknownNames) return;
  unknown.set(name, (unknown.get(name) ?? 0) + 1);
}

function hasEnded({ result }: Fold): boolean {
  return result !== undefined && !result.more;
}

function finishTurn(
  adapter: AgentAdapter,
  fold: Fold,
  process: ProcessEnd,
  plain: readonly string[],
): StreamedTurn {
  const { toolCalls, failedCalls, refusedCalls, sessionId, model, context, trouble, result } = fold;
  const blocks = fold.text.blocks();
  const limit = result?.ok ? undefined : (result?.limit ?? trouble?.limit);
  const acted = blocks.length > 0 || toolCalls > 0;
  const streamEnd = endOf(adapter, process, { acted, result, limit });
  // Plain text is an answer, and says nothing about tools.
  const isPlainAnswer = streamEnd === 'empty' && plain.length > 0;
  const end = isPlainAnswer ? 'finished' : streamEnd;
  const error = end === 'finished' || end === 'empty' ? undefined : errorOf(process, result, trouble);
  const usage = result?.usage ?? fold.usage;
  return {
    text: isPlainAnswer ? [plain.join('\n')] : blocks,
    toolCalls: adapter.reportsToolCalls && !isPlainAnswer ? Math.max(0, toolCalls - failedCalls) : null,
    failedCalls,
    ...(refusedCalls > 0 && refusedCalls === toolCalls ? { allRefused: true } : {}),
    end,
    exitCode: process.exitCode,
    ...(usage === undefined ? {} : { usage }),
    ...(limit === undefined ? {} : { limit }),
    ...(error === undefined ? {} : { error }),
    ...(context === undefined ? {} : { context }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(model === undefined ? {} : { model }),
    unknown: Object.fromEntries(fold.unknown),
    ended: hasEnded(fold),
  };
}

/** Returns the larger context. No spread: it would take longer than parsing the line. */
function fuller(
  before: ContextSize | undefined,
  { tokens, window = before?.window }: ContextSize,
): ContextSize {
  const most = Math.max(tokens, before?.tokens ?? 0);
  return window === undefined ? { tokens: most } : { tokens: most, window };
}

/** True for a line that is no event, and that the adapter only shows. */
function isPlain(line: string, events: readonly AgentEvent[]): boolean {
  return /^\s*[^\s{]/.test(line) && events.every(({ type }) => type === 'notice');
}

function endOf(
  adapter: AgentAdapter,
  { cause, exitCode }: ProcessEnd,
  { acted, result, limit }: { acted: boolean; result: ResultEvent | undefined; limit: Limit | undefined },
): TurnEnd {
  if (result?.ok) {
    const crashed = cause === 'exited' && exitCode !== 0 && !adapter.exitCodeIsNoise;
    return crashed ? 'failed' : 'finished';
  }
  // An agent that we end may still report a failure; our reason to end it says more.
  if (cause === 'idle') return 'inactive';
  if (cause === 'hard-timeout') return 'timed-out';
  if (cause === 'stopped') return 'aborted';
  if (cause === 'not-started') return 'failed';
  if (limit) return 'limited';
  if (result) return 'failed';
  if (exitCode !== 0) return 'failed';
  if (!acted) return 'empty';
  return adapter.endsWithoutResult ? 'finished' : 'failed';
}

function errorOf(
  { cause, exitCode, stderrTail }: ProcessEnd,
  result: ResultEvent | undefined,
  trouble: { message: string } | undefined,
): string {
  if (cause === 'idle') return 'it was silent for longer than the idle time-out (idleTimeout)';
  if (cause === 'hard-timeout')
    return 'it ran for longer than the time-out of an iteration (iterationTimeout)';
  const message = (result?.ok ? undefined : result?.error) ?? trouble?.message;
  if (message) return message;
  const lastWords = stderrTail?.trim();
  if (lastWords) return lastWords;
  if (cause === 'exited' && exitCode !== 0)
    return `exited with ${exitCode === null ? 'a signal' : `code ${exitCode}`}`;
  if (cause === 'not-started') return 'could not be started';
  return result === undefined ? 'ended without a result' : 'reported a failure without saying why';
}
