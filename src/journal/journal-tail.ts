import { tailLines } from '../os/files/tail-lines.ts';
import { readEventLines } from './event-lines.ts';
import { readEvent } from './events.ts';

const maxLineBytes = 8 * 1024 * 1024;

export type JournalTail = ReturnType<typeof tailJournal>;

export function tailJournal(path: string) {
  let oversized = 0;
  const tail = tailLines(path, { maxLineBytes, onOversize: () => oversized++ });

  return {
    /** Reads only what is new; if `restarted`, these events are all there are. A line that is not complete waits. */
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
