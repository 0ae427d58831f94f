import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJournal } from '../../../src/store/journal.ts';
import type { End } from '../case.ts';

/** The end of the only run in a folder of runs. */
export function endOfRun(runs: string): End {
  const [run = ''] = readdirSync(runs);
  const { events } = readJournal(join(runs, run, 'journal.ndjson'));
  const end = events.findLast((event) => event.type === 'run.ended');
  if (end?.type !== 'run.ended') throw new Error(`${run} has no end`);
  const { outcome, iterations, exitCode, because } = end;
  return { outcome, iterations, exitCode, ...because };
}
