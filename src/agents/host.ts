import type { TranscriptFormat } from './transcript.ts';

/** Facts of an agent that our hooks need when it calls them. */
export type HookHost = {
  readonly name: string;
  readonly transcript: TranscriptFormat;
  /** The word that refuses a stop or a prompt. */
  readonly refusal: 'block' | 'deny';
  /** Returns the user's own words in a prompt, for a host that adds others. */
  readonly promptOf?: (prompt: string) => string;
  /** The kind of message that its model gets with angle brackets as XML entities. */
  readonly escapes?: 'continue' | 'context';
  /** True if it does not say what the user typed while the agent works, and serves it only after Escape. */
  readonly needsEscape?: true;
  /** Most characters of context at a stop that its model gets whole. Such context keeps the agent working, too. */
  readonly contextAtStop?: number;
  /** True if it shows the user the notice in place of the whole reason for a refused stop. */
  readonly showsNoticeOnly?: true;
};
