import { join, relative } from 'node:path';
import { agents } from '../agents/registry.ts';
import { type FileSnapshot, snapshotFiles } from '../os/files/file-snapshot.ts';
import { isWithin } from '../os/files/real-path.ts';
import type { GitFolders } from '../os/git/git.ts';

/** Hooks of git. */
const hookNames = [
  ...['applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'commit-msg'],
  ...['prepare-commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'update'],
  ...[
    'pre-receive',
    'post-receive',
    'post-update',
    'reference-transaction',
    'push-to-checkout',
    'pre-auto-gc',
  ],
  ...['post-rewrite', 'sendemail-validate', 'fsmonitor-watchman', 'post-index-change', 'proc-receive'],
];

const settingsFiles = [
  ...Object.values(agents).flatMap(({ sandbox }) => sandbox.projectSettings),
  ...['.hg/hgrc', '.hg/hgrc-not-shared', '.hg/requires', '.hg/sharedpath'],
];

/** Remembers the files that decide what runs outside, for sandboxes that show the project as it is. */
export function snapshotProject(root: string, git: GitFolders | null): FileSnapshot {
  const project = snapshotFiles(root, [...settingsFiles, ...below(root, git)]);
  // A linked worktree has its repository elsewhere.
  const elsewhere = git !== null && !isWithin(git.commonDir, root) ? git.commonDir : null;
  const repository = elsewhere === null ? null : snapshotFiles(elsewhere, below(elsewhere, git));
  return { restore: () => [...project.restore(), ...(repository?.restore() ?? [])] };
}

function below(folder: string, git: GitFolders | null): string[] {
  if (git === null) return [];
  // Only a linked worktree has `commondir` and `gitdir`.
  const settings = [git.commonDir, git.gitDir].flatMap((each) =>
    ['config', 'config.worktree', 'commondir', 'gitdir'].map((name) => join(each, name)),
  );
  const all = new Set([...settings, ...hookNames.map((name) => join(git.hooks, name))]);
  return [...all].filter((path) => isWithin(path, folder)).map((path) => relative(folder, path));
}
