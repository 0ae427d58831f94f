import type { Reply } from '../reply.ts';
import type { TranscriptFormat } from '../transcript.ts';

/** What the hooks have to know of the host that runs them. */
export type HookHost = {
  readonly name: string;
  readonly transcript: TranscriptFormat;
  /** The user's own words in what the host calls the prompt. */
  readonly promptOf?: (prompt: string) => string;
  /** A reply as the host reads it: one JSON document, or nothing. */
  readonly print: (event: string, reply: Reply) => string;
};
