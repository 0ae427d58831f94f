import type { TranscriptMark } from '../../store/session-loops.ts';
import type { Reply } from '../reply.ts';
import type { TurnRead } from '../turn.ts';

/** What the hooks have to know of the host that runs them. */
export type HookHost = {
  readonly name: string;
  /** The turn that ends, from the new bytes of the host's transcript and its own word about the last answer. */
  readonly readTurn: (
    path: string | null,
    from: TranscriptMark,
    lastMessage: string | null,
    wantedCalls?: number,
  ) => TurnRead;
  /** The user's own words in what the host calls the prompt. */
  readonly promptOf?: (prompt: string) => string;
  /** A reply as the host reads it: one JSON document, or nothing. */
  readonly print: (event: string, reply: Reply) => string;
};
