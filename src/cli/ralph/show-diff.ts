import { RalphError } from '../../core/error.ts';
import type { LocatedRun } from '../../drive/session/session-runs.ts';
import { type IterationView, type RunView, rangeOf } from '../../journal/run-view.ts';
import { diffBetween } from '../../os/git/git-diff.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context } from '../kernel/spec.ts';
import { readLocated } from './located-run.ts';

const maxDiffChars = 64 * 1024 * 1024;

/** Prints what a run or one of its iterations changed, as a patch. */
export async function showDiff(
  { cwd, stdout }: Context,
  located: LocatedRun,
  number: string,
): Promise<number> {
  const { view } = readLocated(cwd, located);
  const { from, to } = rangeOf(view, iterationOf(view, number));
  const diff = from === null ? null : await diffBetween(cwd, from, to, maxDiffChars);
  if (diff === null) {
    const message = `the changes of run ${view.run} are not kept: there is no git here, or its snapshots are gone`;
    throw new RalphError('no-diff', message, { remedy: `ralph show ${view.run}` });
  }
  stdout.write(cleanTerminal(diff.text));
  return 0;
}

/** Returns the iteration of a number; undefined without one, for the whole run. */
export function iterationOf({ run, iterations }: RunView, number: string): IterationView | undefined {
  if (number === '') return undefined;
  const one = iterations.findLast(({ iteration }) => String(iteration) === number);
  if (one !== undefined) return one;
  const count = new Set(iterations.map(({ iteration }) => iteration)).size;
  throw new RalphError('usage', `run ${run} has no iteration ${number}: it has ${count}`, {
    remedy: `ralph show ${run} --diff`,
  });
}
