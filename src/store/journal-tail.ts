import { tailLines } from '../system/tail-lines.ts';
import type { JournalEvent } from './events.ts';
import { readEvents } from './journal.ts';

const maxLineBytes = 8 * 1024 * 1024;

export type TailRead = {
  /** The events since the last look. */
  readonly events: readonly JournalEvent[];
  /** Lines since the last look that are no events, and events that only a newer release knows. */
  readonly damaged: number;
  readonly unknown: number;
  /** The file is another than at the last look, or shorter: these events are all there are. */
  readonly restarted: boolean;
};

/** Follows a journal that somebody else writes. */
export type JournalTail = {
  /** Reads what is new, and only that. A line that is not whole yet waits for the next look. */
  read(): TailRead;
};

export function tailJournal(path: string): JournalTail {
  let oversized = 0;
  const tail = tailLines(path, { maxLineBytes, onOversize: () => oversized++ });

  return {
    read() {
      oversized = 0;
      const { lines, restarted } = tail.read();
      const { events, damaged, unknown } = readEvents(lines.map((line) => line.toString('utf8')));
      return { events, damaged: damaged + oversized, unknown, restarted };
    },
  };
}
