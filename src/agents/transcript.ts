/** What a line of a transcript tells. */
export type TranscriptEntry =
  /** Words and calls of the agent. A host that writes a message again as it grows gives it an id. */
  | {
      readonly kind: 'agent';
      readonly text: readonly string[];
      readonly toolCalls: number;
      readonly id?: string;
    }
  /** What a stop hook said to the agent: the turn began there. */
  | { readonly kind: 'own-prompt' }
  | { readonly kind: 'human' }
  /** The user broke the turn off. */
  | { readonly kind: 'interrupt' };

/** How an agent writes the transcript of a session, a JSON object in each line. Lines come as Latin-1. */
export type TranscriptFormat = {
  /** Whether a line may be the agent's; of a long line it sees the two ends first. */
  readonly isAgent: (line: string) => boolean;
  /** Whether one of those is a call of a tool without words, which counts without being parsed. */
  readonly isCall: (line: string) => boolean;
  /** Whether a line tells that a call failed or was denied; the call itself stands in an earlier line. */
  readonly isFailure: (line: string) => boolean;
  /** Whether any other of those may hold calls. */
  readonly mayCall: (line: string) => boolean;
  /** What a line holds that says that the user broke the turn off. */
  readonly interruptMark: string;
  /** Whether any other line may be of the user or of a hook. */
  readonly isUser: (line: string) => boolean;
  /** A line without parts that are long and of no use. */
  readonly shorten?: (line: string) => string;
  readonly entryOf: (value: Readonly<Record<string, unknown>>) => TranscriptEntry | null;
};
