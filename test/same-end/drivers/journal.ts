import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJournal } from '../../../src/journal/journal.ts';
import type { End } from '../case.ts';

/** The end of the only run in a folder of runs. A journal has one end, however many processes drove the run. */
export function endOfRun(runs: string): End {
  const [run = ''] = readdirSync(runs);
  const { events } = readJournal(join(runs, run, 'journal.ndjson'));
  const ends = events.flatMap((event) => (event.type === 'run.ended' ? [event] : []));
  const [end] = ends;
  if (end === undefined || ends.length > 1) throw new Error(`${run} has ${ends.length} ends`);
  const { outcome, iterations, exitCode, because } = end;
  return { outcome, iterations, exitCode, ...because };
}
