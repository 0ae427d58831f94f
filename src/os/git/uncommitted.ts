import { dirname, join, relative, resolve, sep } from 'node:path';
import { listDir, lstatOf } from '../files/files.ts';
import { isWithin, realPath } from '../files/real-path.ts';
import { committedOnly, findRepository, lookWithGit, runGit } from './git.ts';

export type CommitQuery = {
  /** Files and folders of the loop itself, which an agent never has to commit. */
  readonly own: readonly string[];
  /** Files hidden from git count if they changed since then, in epoch milliseconds; null is always. */
  readonly since: number | null;
  /** The top of the repository that has to exist; null if there may be none. */
  readonly top: string | null;
};

export type Uncommitted = {
  /** Lines as `git status` prints them. */
  readonly changes: readonly string[];
  /** Why the changes are unknown, though there is a repository, or has to be. */
  readonly failure: string | null;
};

const nothing: Uncommitted = { changes: [], failure: null };

/** Lists the changes that are in no commit, and those that were hidden from git. */
export async function uncommittedChanges(
  cwd: string,
  { own, since, top: expectedTop }: CommitQuery,
): Promise<Uncommitted> {
  const top = expectedTop ?? findRepository(cwd, isGit);
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
  // Without git, or without the time for it, nobody could commit either.
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

/** Returns tracked files that git was told to treat as unchanged and that were touched since. */
async function flaggedFiles(top: string, since: number | null): Promise<string[]> {
  const { stdout } = await runGit(top, ['ls-files', '-v', '-z'], undefined, { env: within(top) });
  return stdout
    .split('\0')
    .filter((line) => /^[a-zS] /.test(line))
    .map((line) => line.slice(2))
    .filter((path) => touchedSince(join(top, path), since));
}

/** Returns files that are new since then and that only an exclude file as new as they are leaves out. */
async function excludedFiles(top: string, since: number | null): Promise<string[]> {
  const git = (...words: string[]) => runGit(top, words, undefined, { env: within(top) });
  const answers = await Promise.all([
    git('rev-parse', '--git-path', 'info/exclude'),
    git('config', '--local', '--type=path', 'core.excludesFile'),
  ]);
  const lists = answers
    .filter(({ exitCode }) => exitCode === 0)
    .map(({ stdout }) => resolve(top, stdout.replace(/\r?\n$/, '')))
    .filter((path) => touchedSince(path, since));
  if (lists.length === 0) return [];
  const from = lists.map((path) => `--exclude-from=${path}`);
  const { stdout } = await git('ls-files', '-z', '--others', '--ignored', '--directory', ...from);
  return stdout.split('\0').filter((path) => path !== '' && touchedSince(join(top, path), since));
}

/** Compares the time of change, which nobody can set. */
function touchedSince(path: string, since: number | null): boolean {
  const stat = lstatOf(path);
  return stat !== null && (since === null || stat.ctimeMs >= since);
}

/** Keeps git from taking a repository further up for one that is broken. */
function within(top: string): { readonly GIT_CEILING_DIRECTORIES: string } {
  return { GIT_CEILING_DIRECTORIES: dirname(top) };
}

/** False for an empty folder, which git skips. */
function isGit(path: string): boolean {
  const stat = lstatOf(path);
  return stat !== null && !(stat.isDirectory() && listDir(path).length === 0);
}
