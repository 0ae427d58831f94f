import { committedOnly, lookWithGit, workOnly } from './git.ts';

const diffWords = [
  'diff',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
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
  if (![from, to ?? from].every((commit) => /^[0-9a-f]{7,64}$/.test(commit))) return null;
  const result = await lookWithGit(cwd, [...diffWords, from, ...(to === null ? [] : [to]), ...workOnly]);
  if (result.exitCode !== 0) return null;
  return {
    text: result.stdout.slice(0, maxChars),
    truncated: result.truncated || result.stdout.length > maxChars,
  };
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
