/** How a turn ended, as the adapter and the process tell it. */
export type TurnEnd = 'finished' | 'failed' | 'timed-out' | 'inactive' | 'aborted' | 'empty' | 'limited';

export type LimitKind = 'usage' | 'auth' | 'quota' | 'context' | 'overload';

/** A limit of the provider that cut the turn. `resetsAt` is in epoch milliseconds. */
export type Limit = { readonly kind: LimitKind; readonly resetsAt?: number; readonly message?: string };

/** Tokens and cost of a turn. `costUsd` is absent where the agent reports none. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd?: number;
  /** True where any figure was worked out by us and not reported by the agent. */
  readonly estimated?: boolean;
};

/** Tokens that the model had before it; `window` is how many fit, where the agent tells it. */
export type ContextSize = { readonly tokens: number; readonly window?: number };

/** What changed in the working copy during the turn. */
export type Progress = {
  readonly commits: number;
  readonly filesChanged: number;
  /** The first of the files that were changed and are not committed. */
  readonly files?: readonly string[];
  readonly other?: string;
};

/** What the agent did in one iteration. */
export type Turn = {
  /** The assistant's own text blocks in order: never tool output, thinking, the prompt or a subagent. */
  readonly text: readonly string[];
  /** Tool calls of this turn that succeeded, as far as the agent tells; null where it has no way to report calls. */
  readonly toolCalls: number | null;
  readonly end: TurnEnd;
  readonly exitCode: number | null;
  readonly usage?: Usage;
  readonly limit?: Limit;
  readonly progress: Progress;
  /** The agent's own words for why it failed. */
  readonly error?: string;
  /** Epoch milliseconds at the end of the turn; `decide` has no clock of its own. */
  readonly endedAt: number;
  /** From the start of the iteration to `endedAt`, guardrails included. */
  readonly durationMs: number;
  /** True where the user's done pattern matched the text; the driver runs the pattern engine. */
  readonly patternMatched?: boolean;
  /** True where the task list says that everything is done; the driver reads it. */
  readonly tasksDone?: boolean;
};

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Adds two usages; a cost is known as soon as one side knows it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cost =
    a.costUsd === undefined && b.costUsd === undefined ? undefined : (a.costUsd ?? 0) + (b.costUsd ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...(cost === undefined ? {} : { costUsd: cost }),
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  };
}

/** All tokens that were moved, cached ones included. */
export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}
