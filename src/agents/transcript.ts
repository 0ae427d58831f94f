/** Entry in one line of a transcript. */
export type TranscriptEntry =
  /** Text and calls of the agent. A host that writes a growing message again gives it an id. */
  | {
      readonly kind: 'agent';
      readonly text: readonly string[];
      /** Calls that succeeded, or whose failure another line reports. */
      readonly toolCalls: number;
      /** Text of each call that failed or was denied. */
      readonly failures?: readonly string[];
      readonly id?: string;
    }
  /** Prompt of a stop hook: the start of the turn. */
  | { readonly kind: 'own-prompt' }
  | { readonly kind: 'human' }
  /** Error of the API, which the host writes in the agent's place. */
  | { readonly kind: 'error'; readonly text: string }
  /** The user interrupted the turn. */
  | { readonly kind: 'interrupt' }
  /**
   * The host's queue of what the user typed while the agent works: a prompt joins it, the agent gets that prompt in the
   * middle of its turn, the first one is served after the turn, or the user takes all back.
   */
  | { readonly kind: 'queue'; readonly change: 'add' | 'absorb' | 'serve' | 'clear'; readonly text: string };

/** Format of a session's transcript, with a JSON object in each line. Lines are decoded as Latin-1. */
export type TranscriptFormat = {
  /** True if a line may be the agent's; of a long line it gets only the two ends first. */
  readonly isAgent: (line: string) => boolean;
  /** True if such a line is a tool call without text, which counts without parsing. */
  readonly isCall: (line: string) => boolean;
  /** True if a line reports that a call in an earlier line failed or was denied. */
  readonly isFailure: (line: string) => boolean;
  /** True if a line has the result of a call, where results are lines of their own; of a long line it gets the two ends. */
  readonly isResult?: (line: string) => boolean;
  /** True if any other line may be of the user or of a hook, or report an interrupt or a change of the queue. */
  readonly isUser: (line: string) => boolean;
  /** Cuts long, useless parts out of a line. */
  readonly shorten?: (line: string) => string;
  readonly entryOf: (value: Readonly<Record<string, unknown>>) => TranscriptEntry | null;
};
