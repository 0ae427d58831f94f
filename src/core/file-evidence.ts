import type { Check } from './evidence.ts';
import type { Feedback } from './loop.ts';

/** Marks of content by path, or by the name of a part of a file. */
export type Fingerprints = Readonly<Record<string, string>>;

export type FileChange = { readonly path: string; readonly how: 'added' | 'changed' | 'removed' };

/** A change to what defines a check. */
export type CheckChange = FileChange & {
  /** The iteration that made it; null if that is not known. */
  readonly iteration: number | null;
  /** Normal work: a new test, or new lines in an old one. */
  readonly isNormal: boolean;
};

const mostFiles = 20;

/** Returns the differences between two looks, sorted by path. */
export function changesBetween(before: Fingerprints, after: Fingerprints): FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths
    .filter((path) => before[path] !== after[path])
    .map((path) => ({ path, how: !(path in before) ? 'added' : path in after ? 'changed' : 'removed' }));
}

/** Judges the protected files: no change is allowed. */
export function protectedEvidence(changes: readonly FileChange[], count: number): Check {
  const check = 'protected-paths';
  if (changes.length === 0) return { check, ok: true, detail: `as they were (${count})` };
  const list = listed(changes.map(({ path, how }) => `${path} (${how})`));
  const why = 'files that you may not change were changed';
  const next = 'Put them back as they were, then finish the task without changing them.';
  return { check, ok: false, detail: list.join(', '), feedback: feedbackOf(why, list, next) };
}

/** Judges what defines the checks. A change speaks against a claim only if the checks are protected. */
export function checkFilesEvidence(
  changes: readonly CheckChange[],
  { count, isProtected }: { readonly count: number; readonly isProtected: boolean },
): Check {
  const check = 'check-files';
  if (changes.length === 0) return { check, ok: true, detail: `as they were (${count})` };
  const say = ({ path, how, iteration, isNormal }: CheckChange) =>
    `${path} ${isNormal && how === 'changed' ? 'got new lines' : how}${iteration === null ? '' : ` in iteration ${iteration}`}`;
  const doubtful = changes.filter(({ isNormal }) => !isNormal);
  const detail = listed([...doubtful, ...changes.filter(({ isNormal }) => isNormal)].map(say)).join(', ');
  // New lines in an old test may also switch it off.
  const forbidden = changes.filter(({ how, isNormal }) => !isNormal || how !== 'added');
  if (!isProtected || forbidden.length === 0)
    return { check, ok: true, detail, ...(doubtful.length > 0 ? { warning: true } : {}) };
  const next = 'Put it back as it was (new tests belong in new files), then finish the task.';
  const why = 'what checks your work was changed';
  return { check, ok: false, detail, feedback: feedbackOf(why, listed(forbidden.map(say)), next) };
}

/** Judges a run without its record: today's files are no base, since the agent has worked on them. */
export function noBaseEvidence(
  check: 'protected-paths' | 'check-files',
  how: 'missing' | 'damaged',
  isProtected = true,
): Check {
  const detail = `the record of the protected files is ${how}; start a new run`;
  if (!isProtected) return { check, ok: true, detail, warning: true };
  const text = `Your claim was rejected: ${detail}. You cannot mend this, a human has to.`;
  return { check, ok: false, detail, feedback: { action: 'APPEND', text } };
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length > mostFiles ? [`and ${lines.length - mostFiles} more`] : [];
  return [...lines.slice(0, mostFiles), ...more];
}

function feedbackOf(why: string, list: readonly string[], next: string): Feedback {
  const lines = list.map((line) => `- ${line}`).join('\n');
  return { action: 'APPEND', text: `Your claim was rejected because ${why}:\n${lines}\n${next}` };
}
