import { runPaths } from '../../config/paths.ts';
import { type LogRead, readLog, readPrompt } from '../../journal/read-log.ts';
import { type CheckView, type IterationView, type RunView, rangeOf } from '../../journal/run-view.ts';
import { type Diff, diffBetween } from '../../os/git/git-diff.ts';
import type { Redactor } from '../../os/redact/redact.ts';

const maxDiffChars = 1_000_000;
const maxLogBytes = 256 * 1024;
/** A log is closed within moments of its event; clocks of file systems are coarse. */
const logSlackMs = 5000;

/** A loop whose parts are read. The files may hold secrets that no journal has, and people send reports. */
type Place = { readonly view: RunView; readonly folder: string; readonly redactor: Redactor };

export type IterationDetails = Awaited<ReturnType<typeof readDetails>>;

/** Reads parts that are too large for every view; the page asks for them when it needs them. */
export async function readDetails(place: Place, one: IterationView) {
  const prompt = readPrompt(runPaths(place.folder, place.view.run).prompt(one.iteration));
  /** Changes of the iteration, committed or not; up to now while it runs. */
  const changes = await readChanges(place, one);
  return { prompt, changes };
}

/** Returns what an iteration changed, or the whole run; null if nothing, or if git cannot tell. */
export async function readChanges(
  { view, folder, redactor }: Place,
  one: IterationView | undefined,
): Promise<Diff | null> {
  const { from, to } = rangeOf(view, one);
  const changes = from === null ? null : await diffBetween(folder, from, to, maxDiffChars);
  return changes === null || changes.text === '' ? null : { ...changes, text: redactor.text(changes.text) };
}

export function readCheckLog(cwd: string, { log, startedAt, ms }: CheckView): LogRead {
  if (log === null || ms === null) return { kind: 'missing' };
  return readLog(cwd, log, startedAt + ms, { maxBytes: maxLogBytes, slackMs: logSlackMs });
}
