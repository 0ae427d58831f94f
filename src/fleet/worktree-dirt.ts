import { join } from 'node:path';
import { plural } from '../core/text.ts';
import { lstatOf } from '../os/files/files.ts';
import { committedOnly, runGit, runGitForUser, workOnly } from '../os/git/git.ts';
import type { WorktreePlace } from './files/workers.ts';

export type Removal = { readonly removed: true } | { readonly removed: false; readonly because: string };

/** A folder that git cannot read may hold anything. */
const unreadable = 'something that git cannot read';

/** Removes the folder of a worktree; its branch stays. Without `force`, refuses if work would be lost. */
export async function removeWorktree(place: WorktreePlace, force: boolean): Promise<Removal> {
  const dirt = force ? '' : await dirtIn(place);
  if (dirt !== '') return { removed: false, because: `worktree has ${dirt}` };
  // Unless it is forced, git checks once more for changes.
  const words = force || lstatOf(place.path) === null ? ['--force', place.path] : [place.path];
  const { exitCode, stderr } = await runGit(place.base_repo, ['worktree', 'remove', ...words]);
  if (exitCode === 0 || /is not a working tree/.test(stderr)) return { removed: true };
  return { removed: false, because: stderr.trim().replace(/^fatal: /, '') };
}

/** Describes the work that would be lost with a worktree, in words that follow "worktree has"; empty if there is none. */
export async function dirtIn(place: WorktreePlace): Promise<string> {
  if (lstatOf(place.path) === null) {
    // Without the repository, nothing is left.
    return lstatOf(place.base_repo) === null ? '' : unmergedIn(place, place.base_repo);
  }
  const changes = ['status', '--porcelain', '-z', '--no-renames', committedOnly, '--untracked-files=all'];
  const others = [
    'ls-files',
    '-z',
    '--others',
    '--ignored',
    '--exclude-standard',
    '--directory',
    ...workOnly,
  ];
  const [status, ignored, unmerged, stashes, gitDir] = await Promise.all([
    runGitForUser(place.path, changes),
    runGit(place.path, others),
    unmergedIn(place, place.path),
    runGit(place.path, ['stash', 'list', '--format=%gs']),
    runGit(place.path, ['rev-parse', '--absolute-git-dir']),
  ]);
  if (status.exitCode !== 0 || ignored.exitCode !== 0 || unmerged === unreadable) return unreadable;
  const uncommitted = status.stdout.split('\0').filter(Boolean).length;
  // Ignored folders (packages, builds) can be made again; ignored files, such as `.env`, cannot.
  const files = ignored.stdout.split('\0').filter((path) => path !== '' && !path.endsWith('/'));
  const ownStashes = stashes.stdout.split('\n').filter((line) => isStashOn(place.branch, line)).length;
  const parts = [
    uncommitted > 0 ? `uncommitted changes (${plural(uncommitted, 'file')})` : '',
    files.length > 0 ? `${plural(files.length, 'ignored file')} (${firstOf(files)})` : '',
    unmerged,
    ownStashes > 0 ? `${ownStashes} stash${ownStashes === 1 ? '' : 'es'}` : '',
    // They keep commits of their own in a worktree.
    lstatOf(join(gitDir.stdout.trim(), 'modules')) === null ? '' : 'submodules',
  ];
  return parts.filter(Boolean).join(', ');
}

/** Describes the commits that are nowhere else, of the branch and of HEAD, which differ during a rebase. */
async function unmergedIn({ branch, base_repo }: WorktreePlace, cwd: string): Promise<string> {
  const heads = [`refs/heads/${branch}`, ...(cwd === base_repo ? [] : ['HEAD'])];
  const others = ['--not', `--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const results = await Promise.all(
    heads.map((head) => runGit(cwd, ['rev-list', '--count', '--ignore-missing', head, ...others])),
  );
  if (results.some(({ exitCode }) => exitCode !== 0)) return unreadable;
  const commits = Math.max(0, ...results.map(({ stdout }) => Number(stdout)));
  return commits === 0
    ? ''
    : `${plural(commits, 'commit')} that ${commits === 1 ? 'is' : 'are'} not merged or pushed`;
}

function isStashOn(branch: string, subject: string): boolean {
  return subject.startsWith(`WIP on ${branch}: `) || subject.startsWith(`On ${branch}: `);
}

function firstOf(files: readonly string[]): string {
  return files.length > 3 ? `${files.slice(0, 3).join(', ')}, …` : files.join(', ');
}
