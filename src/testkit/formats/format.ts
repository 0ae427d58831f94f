import type { TodoItem } from '../../agents/adapter.ts';
import { noUsage, type Usage } from '../../core/turn.ts';
import type { ApiError } from '../script.ts';

/** Output of one agent CLI: for each step of a script, the events that it becomes. */
export type AgentFormat = {
  /** Output of `--version`. */
  readonly version: string;
  /** Arguments that ask for the event stream; without one only the last answer is printed. Empty if there is no choice. */
  readonly streamWords: readonly string[];
  readonly tools: AgentTools;
  /** Returns the exit code after an API error with this status; 1 is any other failure. */
  exitCode(status: number): number;
  open(turn: TurnContext): TurnWriter;
};

/** Names of an agent's own tools, each with the fields of its input. */
export type AgentTools = {
  readonly shell: readonly [name: string, command: string];
  readonly write: readonly [name: string, path: string, content: string];
  /** Tool that takes the todo list, and the field for the text of an item. */
  readonly todo?: readonly [name: string, text: string];
};

/** Facts of a turn before its first step. */
type TurnContext = {
  readonly prompt: string;
  readonly cwd: string;
  readonly ids: Ids;
  /** Usage of the whole turn. */
  readonly usage: Usage;
  /** Returns that usage on the first call and none after it, for formats whose messages report their own. */
  usageOnce(): Usage;
};

/** Tool call under the agent's own name for it. */
export type ToolCall = {
  readonly id: string;
  readonly kind: 'shell' | 'write' | 'other';
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Command or path, for events that show it outside of the input. */
  readonly subject: string;
};

export type ToolEnd = { readonly output: string; readonly ok: boolean; readonly exitCode?: number };

/** End of a turn with its last answer. `error` is the API error that ended it. */
type TurnResult = {
  readonly ok: boolean;
  readonly error?: ApiError;
  readonly usage: Usage;
  readonly text: string;
};

/** One line of output: an event as JSON, or a text as it is. */
export type Line = object | string;

/** Writes one turn. A step without a method leaves no trace in the stream. */
export type TurnWriter = {
  start?(): Line[];
  /** Writes one text as one event for each part. */
  text(parts: readonly string[]): Line[];
  thinking?(text: string): Line[];
  /** Starts a call; calls do not overlap. */
  toolStart(call: ToolCall): Line[];
  toolEnd(call: ToolCall, end: ToolEnd): Line[];
  /** For an agent without a tool that takes the list. */
  todo?(items: readonly TodoItem[]): Line[];
  subagent?(text: string): Line[];
  echo?(prompt: string): Line[];
  error?(error: ApiError): Line[];
  result(result: TurnResult): Line[];
};

/** Prints what a CLI prints when nobody asked for its event stream. */
export const lastAnswerOnly: TurnWriter = {
  text: () => [],
  toolStart: () => [],
  toolEnd: () => [],
  result: ({ text }) => [text],
};

export type Ids = ReturnType<typeof createIds>;

/** Makes up ids and times, the same on every run. */
export function createIds(turn: number) {
  const start = Date.UTC(2026, 0, 1) + turn * 60_000;
  let count = 0;
  const next = () => {
    count += 1;
    return `${turn}`.padStart(4, '0') + `${count}`.padStart(8, '0');
  };
  /** Returns epoch milliseconds, one more at each call. */
  const time = () => {
    count += 1;
    return start + count;
  };
  return {
    /** Session id of this turn. */
    session: `00000000-0000-4000-8000-${`${turn}`.padStart(12, '0')}`,
    uuid: () => `00000000-0000-4000-9000-${next()}`,
    id: (prefix: string) => `${prefix}${next()}`,
    time,
    timestamp: () => new Date(time()).toISOString(),
  };
}

/** Returns a usage once; readers add up what they see. */
export function usageOnce(usage: Usage): () => Usage {
  let next = usage;
  return () => {
    const current = next;
    next = noUsage;
    return current;
  };
}

/** Returns all input tokens, for CLIs that count cached input as input. */
export function allInput(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}
