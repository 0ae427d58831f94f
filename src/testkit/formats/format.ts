import type { TodoItem } from '../../agents/adapter.ts';
import { noUsage, type Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';

/** Facts of a turn before its first step. */
type TurnContext = {
  readonly prompt: string;
  readonly cwd: string;
  /** Number of the turn, from 1 on; part of all its ids. */
  readonly turn: number;
  /** Usage of the whole turn, for formats that report it before the end. */
  readonly usage: Usage;
};

/** Tool call of a script; each format gives it its own name and input. */
export type ToolCall =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string; readonly existed: boolean }
  | { readonly kind: 'other'; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

export type ToolEnd = { readonly output: string; readonly ok: boolean; readonly exitCode?: number };

/** End of a turn. `error` is the API error that ended it. */
export type TurnResult = { readonly ok: boolean; readonly error?: ApiError; readonly usage: Usage };

/** Writes one turn. Each method returns the text for standard output. */
export type TurnWriter = {
  start(): string;
  /** Writes one text as one event for each part. */
  text(parts: readonly string[]): string;
  thinking(text: string): string;
  /** Starts a call; calls do not overlap. */
  toolStart(call: ToolCall): string;
  toolEnd(call: ToolCall, end: ToolEnd): string;
  todo(items: readonly TodoItem[]): string;
  subagent(text: string): string;
  echo(prompt: string): string;
  error(error: ApiError): string;
  result(result: TurnResult): string;
};

const nothing = () => '';

/** The steps that leave no trace in the stream of most agents. */
export const silent = {
  start: nothing,
  thinking: nothing,
  todo: nothing,
  subagent: nothing,
  echo: nothing,
  error: nothing,
} satisfies Partial<TurnWriter>;

/** Output of one agent CLI. */
export type AgentFormat = {
  /** Output of `--version`. */
  readonly version: string;
  /** Arguments that ask for the event stream; without one only the last answer is printed. Empty if there is no choice. */
  readonly streamWords: readonly string[];
  /** Returns the exit code after an API error with this status; 1 is any other failure. */
  exitCode(status: number): number;
  open(turn: TurnContext): TurnWriter;
};

/** Formats events as lines of JSON. */
export function lines(...events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

export type Ids = ReturnType<typeof createIds>;

/** Makes up ids and times, the same on every run. */
export function createIds(turn: number) {
  const start = Date.UTC(2026, 0, 1) + turn * 60_000;
  let count = 0;
  const next = () => {
    count += 1;
    return `${turn}`.padStart(4, '0') + `${count}`.padStart(8, '0');
  };
  return {
    /** Session id of this turn. */
    session: `00000000-0000-4000-8000-${`${turn}`.padStart(12, '0')}`,
    uuid: () => `00000000-0000-4000-9000-${next()}`,
    id: (prefix: string) => `${prefix}${next()}`,
    /** Returns epoch milliseconds, one more at each call. */
    time: () => {
      count += 1;
      return start + count;
    },
  };
}

/** Returns the usage of the whole turn on the first call and none after it, since readers add up what they see. */
export function usageOnce(usage: Usage): () => Usage {
  let next = usage;
  return () => {
    const current = next;
    next = noUsage;
    return current;
  };
}

/** Returns the todo status in the spelling of nearly all agents. */
export function todoStatus(status: TodoItem['status']): 'pending' | 'in_progress' | 'completed' {
  if (status === 'active') return 'in_progress';
  return status === 'done' ? 'completed' : 'pending';
}
