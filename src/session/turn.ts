import type { TranscriptMark } from '../store/session-loops.ts';

/** What a host's transcript tells about the turn that ends now. */
export type TurnRead = {
  readonly text: readonly string[];
  /** Null where the transcript could not be read. */
  readonly toolCalls: number | null;
  /** The user broke the turn off. */
  readonly interrupted: boolean;
  /** And then asked something else, or nothing came after it. */
  readonly askedSince: boolean;
  readonly mark: TranscriptMark;
  /** What went wrong, where the turn ended in an error with nothing said. */
  readonly error?: string;
};

const keptUnseen = 500;

/** Joins the host's own word about the last answer, which comes before the transcript has it in some versions. */
export function joinLastMessage(read: TurnRead, lastMessage: string | null): TurnRead {
  const last = lastMessage?.trim() ?? '';
  if (last === '' || read.text.some((block) => block.trim() === last)) return read;
  return {
    ...read,
    text: [...read.text, last],
    mark: { ...read.mark, unseen: last.slice(-keptUnseen) },
  };
}

/** Takes out what the turn before had said, where the transcript got it only now. */
export function dropUnseen(text: readonly string[], unseen: string | null): readonly string[] {
  const [first, ...others] = text;
  return unseen !== null && first?.trim().endsWith(unseen) ? others : text;
}
