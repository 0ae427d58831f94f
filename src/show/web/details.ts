import { runPaths } from '../../config/paths.ts';
import { type LogRead, readLog, readPrompt } from '../../journal/read-log.ts';
import { type CheckView, type IterationView, type RunView, rangeOf } from '../../journal/run-view.ts';
import { type Diff, diffBetween } from '../../os/git/git-diff.ts';
import type { Redactor } from '../../os/redact/redact.ts';

/** Parts that are too large for every view; the page asks for each when it needs it. */
export type IterationDetails = {
  readonly prompt: string | null;
  /** Changes of the iteration, committed or not; up to now while it runs. */
  readonly changes: Diff | null;
};

const maxDiffChars = 1_000_000;
const maxLogBytes = 256 * 1024;
/** A log is closed within moments of its event; clocks of file systems are coarse. */
const logSlackMs = 5000;

/** Reads the details of an iteration. The files may hold secrets that no journal has, and people send reports. */
export async function readDetails(
  { cwd, redactor }: { readonly cwd: string; readonly redactor: Redactor },
  view: RunView,
  one: IterationView,
): Promise<IterationDetails> {
  const prompt = readPrompt(runPaths(cwd, view.run).prompt(one.iteration));
  return { prompt, changes: await readChanges({ cwd, redactor }, view, one) };
}

/** Returns what an iteration changed, or the whole run; null if nothing, or if git cannot tell. */
export async function readChanges(
  { cwd, redactor }: { readonly cwd: string; readonly redactor: Redactor },
  view: RunView,
  one: IterationView | undefined,
): Promise<Diff | null> {
  const { from, to } = rangeOf(view, one);
  const changes = from === null ? null : await diffBetween(cwd, from, to, maxDiffChars);
  return changes === null || changes.text === '' ? null : { ...changes, text: redactor.text(changes.text) };
}

/** The check that a path names: `guardrail-0`, `verify-1`. */
export function findCheck(one: IterationView, name: string): CheckView | null {
  const [, kind, index] = /^(guardrail|verify)-(\d{1,4})$/.exec(name) ?? [];
  const checks = kind === 'guardrail' ? one.guardrails : one.verify;
  return (kind !== undefined && checks[Number(index)]) || null;
}

export function readCheckLog(cwd: string, check: CheckView): LogRead {
  if (check.log === null || check.ms === null) return { kind: 'missing' };
  return readLog(cwd, check.log, check.startedAt + check.ms, { maxBytes: maxLogBytes, slackMs: logSlackMs });
}
