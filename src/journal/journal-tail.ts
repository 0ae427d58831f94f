import { tailLines } from '../os/files/tail-lines.ts';
import { readEventLines, type Skipped } from './event-lines.ts';
import { type JournalEvent, readEvent } from './events.ts';

const maxLineBytes = 8 * 1024 * 1024;

/** Events since the last look. */
type TailRead = Skipped & {
  readonly events: readonly JournalEvent[];
  /** The file was replaced or cut since the last look: these events are all there are. */
  readonly restarted: boolean;
};

/** Follows a journal that somebody else writes. */
export type JournalTail = {
  /** Reads only what is new. A line that is not complete waits for the next look. */
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
