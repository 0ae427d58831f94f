import { tailLines } from '../os/files/tail-lines.ts';
import { readEventLines, type Skipped } from './event-lines.ts';
import { type JournalEvent, readEvent } from './events.ts';

const maxLineBytes = 8 * 1024 * 1024;

/** What came since the last look. */
type TailRead = Skipped & {
  readonly events: readonly JournalEvent[];
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
      const { events, damaged, unknown } = readEventLines(
        lines.map((line) => line.toString('utf8')),
        readEvent,
      );
      return { events, damaged: damaged + oversized, unknown, restarted };
    },
  };
}
