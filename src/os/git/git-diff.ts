import { committedOnly, lookWithGit, workOnly } from './git.ts';

const diffWords = [
  'diff',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--unified=3',
  committedOnly,
  '--end-of-options',
];

export type Diff = { readonly text: string; readonly truncated: boolean };

/** Returns the difference between two commits, or between a commit and the files now; null if git has none. */
export async function diffBetween(
  cwd: string,
  from: string,
  to: string | null,
  maxChars: number,
): Promise<Diff | null> {
  const commits = [from, ...(to === null ? [] : [to])];
  if (!commits.every(isCommit)) return null;
  const result = await lookWithGit(cwd, [...diffWords, ...commits, ...workOnly]);
  if (result.exitCode !== 0) return null;
  return {
    text: result.stdout.slice(0, maxChars),
    truncated: result.truncated || result.stdout.length > maxChars,
  };
}

const maxFileChars = 400_000;

function isCommit(text: string): boolean {
  return /^[0-9a-f]{7,64}$/.test(text);
}

/** Returns a file as a commit or snapshot has it; null if it has none, or a larger or binary one. */
export async function fileAt(cwd: string, commit: string, path: string): Promise<string | null> {
  if (!isCommit(commit) || path === '') return null;
  const words = ['cat-file', 'blob', `${commit}:${path}`];
  const { stdout, exitCode, truncated } = await lookWithGit(cwd, words);
  if (exitCode !== 0 || truncated || stdout.length > maxFileChars || stdout.includes('\0')) return null;
  return stdout;
}

/** Counts what changed between two commits, or since a commit; null if git cannot tell. */
export async function countChanges(cwd: string, from: string, to: string | null): Promise<string | null> {
  const commits = [from, ...(to === null ? [] : [to])];
  if (!commits.every(isCommit)) return null;
  const words = ['diff', '--shortstat', '--no-ext-diff', '--no-textconv', '--no-renames', committedOnly];
  const { stdout, exitCode } = await lookWithGit(cwd, [...words, ...commits, ...workOnly]);
  return exitCode === 0 ? stdout.trim() || 'nothing changed' : null;
}

/** Returns those of these files that only got new lines since a commit; none if git cannot tell. */
export async function grownSince(
  cwd: string,
  commit: string | null,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commit === null || paths.length === 0) return new Set();
  const words = ['diff', '--numstat', '-z', '--relative', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const files = paths.map((path) => `:(literal)${path}`);
  const result = await lookWithGit(cwd, [...words, '--end-of-options', commit, '--', ...files]);
  const lines = result.exitCode === 0 ? result.stdout.split('\0') : [];
  return new Set(lines.flatMap((line) => /^[1-9]\d*\t0\t(.+)$/s.exec(line)?.[1] ?? []));
}

/** Returns the files that differ between two commits, all of `to` without `from`; none if git cannot tell. */
export async function changedFiles(cwd: string, from: string | null, to: string | null): Promise<string[]> {
  if (to === null) return [];
  const words =
    from === null
      ? ['ls-tree', '-r', '-z', '--name-only', to]
      : ['diff-tree', '-r', '-z', '--name-only', from, to];
  const { stdout, exitCode } = await lookWithGit(cwd, [...words, ...(from === null ? [] : workOnly)]);
  return exitCode === 0 ? stdout.split('\0').filter(Boolean) : [];
}
