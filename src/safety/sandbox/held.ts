import { join, relative } from 'node:path';
import { type HeldFiles, holdFiles } from '../../store/held-files.ts';
import type { GitFolders } from '../../system/git.ts';
import { isWithin } from '../../system/real-path.ts';

/** What git runs, by name. */
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
  ...['.claude/settings.json', '.claude/settings.local.json', '.mcp.json', '.codex/config.toml'],
  ...['.codex/hooks.json', '.gemini/settings.json', '.qwen/settings.json', 'opencode.json', 'opencode.jsonc'],
];

/** For sandboxes that show the project as it is: what decides what runs outside is put back after each command. */
export function holdProject(root: string, git: GitFolders | null): HeldFiles {
  const inGit =
    git === null ? [] : ['config', 'config.worktree', 'commondir'].map((name) => join(git.commonDir, name));
  const hooks = git === null ? [] : hookNames.map((name) => join(git.hooks, name));
  const inside = [...inGit, ...hooks]
    .filter((path) => isWithin(path, root))
    .map((path) => relative(root, path));
  // In a linked worktree `commondir` is git's own, and elsewhere it is not there.
  return holdFiles(root, [...settingsFiles, ...inside]);
}
