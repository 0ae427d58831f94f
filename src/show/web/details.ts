import { runPaths } from '../../config/paths.ts';
import { type LogRead, readLog, readPrompt } from '../../journal/read-log.ts';
import type { CheckView, IterationView, RunView } from '../../journal/run-view.ts';
import { type Diff, diffBetween } from '../../os/git/git-diff.ts';
import { createRedactor } from '../../os/redact/redact.ts';

/** Parts that are too large for every view; the page asks for each when it needs it. */
export type IterationDetails = {
  readonly prompt: string | null;
  /** Changes of the iteration, committed or not; up to now while it runs. */
  readonly changes: Diff | null;
};

const maxDiffChars = 200_000;
const maxLogBytes = 256 * 1024;
/** A log is closed within moments of its event; clocks of file systems are coarse. */
const logSlackMs = 5000;

export async function readDetails(cwd: string, view: RunView, one: IterationView): Promise<IterationDetails> {
  const { from, to, index } = one;
  const end = to ?? view.iterations[index + 1]?.from ?? null;
  const changes = from === null ? null : await diffBetween(cwd, from, end, maxDiffChars);
  const prompt = readPrompt(runPaths(cwd, view.run).prompt(one.iteration));
  if (changes === null || changes.text === '') return { prompt, changes: null };
  // The files may hold secrets that no journal has, and people send reports to others.
  return { prompt, changes: { ...changes, text: createRedactor(process.env).text(changes.text) } };
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
