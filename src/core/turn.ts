/** End of a turn, by the stream and the process. */
export type TurnEnd = 'finished' | 'failed' | 'timed-out' | 'inactive' | 'aborted' | 'empty' | 'limited';

export type LimitKind = 'usage' | 'auth' | 'quota' | 'context' | 'overload';

/** Limit of the provider that cut the turn. `resetsAt` is in epoch milliseconds. */
export type Limit = { readonly kind: LimitKind; readonly resetsAt?: number; readonly message?: string };

/** Tokens and cost of a turn. `costUsd` is absent where the agent reports none. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd?: number;
  /** True if we estimated a figure that the agent did not report. */
  readonly estimated?: boolean;
};

/** Tokens in the model's context; `window` is how many fit, if the agent reports it. */
export type ContextSize = { readonly tokens: number; readonly window?: number };

/** Changes of the working copy during the turn. */
export type Progress = {
  readonly commits: number;
  readonly filesChanged: number;
  /** First changed files that are not committed. */
  readonly files?: readonly string[];
  readonly other?: string;
};

/** What the agent did in one iteration. */
export type Turn = {
  /** The assistant's own text blocks in order: never tool output, thinking, the prompt or a subagent. */
  readonly text: readonly string[];
  /** Tool calls of this turn that succeeded; null if the agent cannot report calls. */
  readonly toolCalls: number | null;
  /** True if a permission, a guard or a sandbox refused every tool call of the turn. */
  readonly allRefused?: boolean;
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
  /** True if the user's done pattern matched the text; the driver runs the pattern. */
  readonly patternMatched?: boolean;
  /** True if the task list says that everything is done; the driver reads it. */
  readonly tasksDone?: boolean;
};

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Adds two usages; the sum has a cost if one side has one. */
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

/** Returns the sum of all tokens, cached ones included. */
export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}
