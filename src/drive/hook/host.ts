import type { TranscriptFormat } from '../../agents/transcript.ts';
import type { Reply } from '../session/hook-reply.ts';

/** Facts of a host that its hooks need. */
export type HookHost = {
  readonly name: string;
  readonly transcript: TranscriptFormat;
  /** Returns the user's own words in the host's prompt. */
  readonly promptOf?: (prompt: string) => string;
  /** Prints a reply as the host reads it: one JSON document, or nothing. */
  readonly print: (event: string, reply: Reply) => string;
};
