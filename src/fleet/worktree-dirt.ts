import { join } from 'node:path';
import { lstatOf } from '../os/files/files.ts';
import { committedOnly, runGit, runGitForUser } from '../os/git/git.ts';
import type { WorktreePlace } from './files/workers.ts';

/** Work that exists in a worktree only, and would be lost with it. */
export type Dirt = {
  /** Changed and untracked files. */
  readonly uncommitted: readonly string[];
  /** Ignored files, such as `.env`. Ignored folders (packages, builds) do not count: they can be made again. */
  readonly ignored: readonly string[];
  /** Commits that are in no other branch and on no remote. */
  readonly unmerged: number;
  /** Stashes that were made on its branch. */
  readonly stashes: number;
  /** Submodules keep commits of their own in a worktree. */
  readonly submodules: boolean;
  /** True if git cannot read the worktree. */
  readonly unreadable: boolean;
};

/** Pathspec of everything but the files of our own runs. */
const work = ['--', ':/', ':(exclude,top,glob)**/.ralph/**'];
const clean: Dirt = {
  uncommitted: [],
  ignored: [],
  unmerged: 0,
  stashes: 0,
  submodules: false,
  unreadable: false,
};
/** A folder that git cannot read may hold anything. */
const unreadable: Dirt = { ...clean, unreadable: true };

export type Removal = { readonly removed: true } | { readonly removed: false; readonly because: string };

export function isClean(dirt: Dirt): boolean {
  return describeDirt(dirt) === '';
}

/** Returns the work that exists in a worktree only. */
export async function dirtOf(place: WorktreePlace): Promise<Dirt> {
  if (lstatOf(place.path) === null) {
    // Without the repository, nothing is left.
    const unmerged = lstatOf(place.base_repo) === null ? 0 : await unmergedIn(place, place.base_repo);
    return unmerged === null ? unreadable : { ...clean, unmerged: unmerged };
  }
  const [status, ignored, unmerged, stashes, gitDir] = await Promise.all([
    runGitForUser(place.path, [
      'status',
      '--porcelain',
      '-z',
      '--no-renames',
      committedOnly,
      '--untracked-files=all',
    ]),
    runGit(place.path, [
      'ls-files',
      '-z',
      '--others',
      '--ignored',
      '--exclude-standard',
      '--directory',
      ...work,
    ]),
    unmergedIn(place, place.path),
    runGit(place.path, ['stash', 'list', '--format=%gs']),
    runGit(place.path, ['rev-parse', '--absolute-git-dir']),
  ]);
  if (status.exitCode !== 0 || ignored.exitCode !== 0 || unmerged === null) return unreadable;
  return {
    uncommitted: status.stdout
      .split('\0')
      .filter(Boolean)
      .map((entry) => entry.slice(3)),
    ignored: ignored.stdout.split('\0').filter((path) => path !== '' && !path.endsWith('/')),
    unmerged,
    stashes: stashes.stdout.split('\n').filter((line) => isStashOn(place.branch, line)).length,
    submodules: lstatOf(join(gitDir.stdout.trim(), 'modules')) !== null,
    unreadable: false,
  };
}

/** Describes dirt in words that follow "worktree has". */
function describeDirt({ uncommitted, ignored, unmerged, stashes, submodules, unreadable }: Dirt): string {
  const parts = [
    uncommitted.length > 0 ? `uncommitted changes (${count(uncommitted.length, 'file')})` : '',
    ignored.length > 0 ? `${count(ignored.length, 'ignored file')} (${some(ignored)})` : '',
    unmerged > 0
      ? `${count(unmerged, 'commit')} that ${unmerged === 1 ? 'is' : 'are'} not merged or pushed`
      : '',
    stashes > 0 ? count(stashes, 'stash', 'stashes') : '',
    submodules ? 'submodules' : '',
    unreadable ? 'something that git cannot read' : '',
  ].filter(Boolean);
  return parts.join(', ');
}

/** Removes the folder of a worktree; its branch stays. Without `force`, refuses if work would be lost. */
export async function removeWorktree(place: WorktreePlace, force: boolean): Promise<Removal> {
  const dirt = await dirtOf(place);
  if (!force && !isClean(dirt)) return { removed: false, because: `worktree has ${describeDirt(dirt)}` };
  // Unless it is forced, git checks once more for changes.
  const words = force || lstatOf(place.path) === null ? ['--force', place.path] : [place.path];
  const { exitCode, stderr } = await runGit(place.base_repo, ['worktree', 'remove', ...words]);
  if (exitCode === 0 || /is not a working tree/.test(stderr)) return { removed: true };
  return { removed: false, because: stderr.trim().replace(/^fatal: /, '') };
}

/** Counts commits that are nowhere else, of the branch and of HEAD, which differ during a rebase. Null if unknown. */
async function unmergedIn({ branch, base_repo }: WorktreePlace, cwd: string): Promise<number | null> {
  const heads = [`refs/heads/${branch}`, ...(cwd === base_repo ? [] : ['HEAD'])];
  const others = ['--not', `--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const results = await Promise.all(
    heads.map((head) => runGit(cwd, ['rev-list', '--count', '--ignore-missing', head, ...others])),
  );
  if (results.some(({ exitCode }) => exitCode !== 0)) return null;
  return Math.max(0, ...results.map(({ stdout }) => Number(stdout)));
}

function isStashOn(branch: string, subject: string): boolean {
  return subject.startsWith(`WIP on ${branch}: `) || subject.startsWith(`On ${branch}: `);
}

function some(files: readonly string[]): string {
  return files.length > 3 ? `${files.slice(0, 3).join(', ')}, …` : files.join(', ');
}

function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}
