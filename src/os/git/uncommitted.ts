import { dirname, join, relative, resolve, sep } from 'node:path';
import { listDir, lstatOf } from '../files/files.ts';
import { isWithin, realPath } from '../files/real-path.ts';
import { committedOnly, findRepository, lookWithGit, runGit } from './git.ts';

export type CommitQuery = {
  /** Files and folders that are the loop's own, and never for an agent to commit. */
  readonly own: readonly string[];
  /** Since when what is hidden from git counts, in epoch milliseconds; null for always. */
  readonly since: number | null;
  /** The top of the repository that has to be there; null where there need not be one. */
  readonly top: string | null;
};

export type Uncommitted = {
  /** As `git status` words it. */
  readonly changes: readonly string[];
  /** Why nobody can tell, though there is a repository, or has to be. */
  readonly failure: string | null;
};

const nothing: Uncommitted = { changes: [], failure: null };

/** What a commit would still have to take in, and what was hidden so that none takes it in. */
export async function uncommittedChanges(
  cwd: string,
  { own, since, top: known }: CommitQuery,
): Promise<Uncommitted> {
  const top = known ?? findRepository(cwd, isGit);
  if (top === null) return nothing;
  if (!isGit(join(top, '.git')))
    return { changes: [], failure: `the repository is gone: there is no ${join(top, '.git')}` };
  const ours = [...own, join(top, '.ralph')]
    .map((path) => realPath(path))
    .filter((path) => isWithin(path, top))
    .map((path) => relative(top, path).split(sep).join('/'));
  const places = ours.map((path) => `:(exclude,top,literal)${path}`);
  const words = ['status', '--porcelain', committedOnly, '--untracked-files=normal', '--', ':/', ...places];
  const [status, flagged, excluded] = await Promise.all([
    lookWithGit(top, words, undefined, within(top)),
    flaggedFiles(top, since),
    excludedFiles(top, since),
  ]);
  // Without a git to run, or the time for it, nothing is known; and nobody could commit either.
  if (status.error || status.timedOut) return nothing;
  if (status.exitCode !== 0) {
    const [line = ''] = status.stderr.trim().split('\n');
    return { changes: [], failure: `git cannot tell what is committed: ${line || 'it failed'}` };
  }
  const isOurs = (path: string) => ours.some((each) => path === each || path.startsWith(`${each}/`));
  return {
    changes: [
      ...status.stdout.split('\n').filter((line) => line !== ''),
      ...flagged.map(
        (path) => `!h ${path} (hidden from git: git update-index --no-assume-unchanged --no-skip-worktree)`,
      ),
      ...excluded
        .filter((path) => !isOurs(path))
        .map((path) => `!! ${path} (hidden by an exclude file that is in no commit)`),
    ],
    failure: null,
  };
}

/** Tracked files that git was told to take for unchanged, and that were touched since. */
async function flaggedFiles(top: string, since: number | null): Promise<string[]> {
  const { stdout } = await runGit(top, ['ls-files', '-v', '-z'], undefined, within(top));
  return stdout
    .split('\0')
    .filter((line) => /^[a-zS] /.test(line))
    .map((line) => line.slice(2))
    .filter((path) => touchedSince(join(top, path), since));
}

/** Files that are new since then and that no commit says to leave out, but an exclude file as new as they are. */
async function excludedFiles(top: string, since: number | null): Promise<string[]> {
  const asked = await Promise.all([
    runGit(top, ['rev-parse', '--git-path', 'info/exclude'], undefined, within(top)),
    runGit(top, ['config', '--local', '--type=path', 'core.excludesFile'], undefined, within(top)),
  ]);
  const lists = asked
    .filter(({ exitCode }) => exitCode === 0)
    .map(({ stdout }) => resolve(top, stdout.replace(/\r?\n$/, '')))
    .filter((path) => touchedSince(path, since));
  if (lists.length === 0) return [];
  const from = lists.map((path) => `--exclude-from=${path}`);
  const others = ['ls-files', '-z', '--others', '--ignored', '--directory', ...from];
  const { stdout } = await runGit(top, others, undefined, within(top));
  return stdout.split('\0').filter((path) => path !== '' && touchedSince(join(top, path), since));
}

/** By a time that nobody can set. */
function touchedSince(path: string, since: number | null): boolean {
  const stat = lstatOf(path);
  return stat !== null && (since === null || stat.ctimeMs >= since);
}

/** No repository further up speaks for one that is broken. */
function within(top: string): { readonly GIT_CEILING_DIRECTORIES: string } {
  return { GIT_CEILING_DIRECTORIES: dirname(top) };
}

/** Git passes over an empty folder of that name. */
function isGit(path: string): boolean {
  const found = lstatOf(path);
  return found !== null && !(found.isDirectory() && listDir(path).length === 0);
}
