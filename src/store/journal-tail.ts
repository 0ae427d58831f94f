import { tailLines } from '../system/tail-lines.ts';
import type { JournalEvent } from './events.ts';
import { parseEvent } from './journal.ts';

const maxLineBytes = 8 * 1024 * 1024;

export type TailRead = {
  /** The events since the last look. */
  readonly events: readonly JournalEvent[];
  /** The file is another than at the last look, or shorter: these events are all there are. */
  readonly restarted: boolean;
};

/** Follows a journal that somebody else writes. */
export type JournalTail = {
  /** Reads what is new, and only that. A line that is not whole yet waits for the next look. */
  read(): TailRead;
  /** Whole lines that were no events. */
  readonly damaged: number;
};

export function tailJournal(path: string): JournalTail {
  let damaged = 0;
  let oversized = 0;
  const tail = tailLines(path, { maxLineBytes, onOversize: () => oversized++ });

  return {
    get damaged() {
      return damaged;
    },
    read() {
      oversized = 0;
      const { lines, restarted } = tail.read();
      damaged = (restarted ? 0 : damaged) + oversized;
      const events = lines.flatMap((line) => {
        if (line.length === 0) return [];
        const event = parseEvent(line.toString('utf8'));
        if (event === null) damaged++;
        return event ?? [];
      });
      return { events, restarted };
    },
  };
}
