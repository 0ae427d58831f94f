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
