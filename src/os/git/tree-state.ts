import { type FileMarks, markFiles } from '../files/file-marks.ts';
import { committedOnly, gitRoot, lookWithGit, runGit, workOnly } from './git.ts';

/** A working copy: its commit and branch, and a fingerprint of each file that differs from it. */
export type TreeState = {
  readonly head: string | null;
  /** Null without one, also if a commit is checked out by itself. */
  readonly branch: string | null;
  readonly files: FileMarks;
};

/** `filters` lets git run the filters of its configuration, as it does for the user. */
export type TreeOptions = { readonly top?: string; readonly filters?: boolean };

const headLine = '# branch.oid ';
const branchLine = '# branch.head ';
const maxStateBytes = 16 * 1024 * 1024;
const statusWords = [
  ...['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'],
  ...[committedOnly, '--untracked-files=all', ...workOnly],
];

/** Reads the state of the whole working copy, with one call of git if `top` is given and filters may run. */
export async function treeState(cwd: string, options: TreeOptions = {}): Promise<TreeState | null> {
  const { top, filters = false } = options;
  const [root, result] = await Promise.all([
    top ?? gitRoot(cwd),
    filters ? runGit(cwd, statusWords) : lookWithGit(cwd, statusWords),
  ]);
  return root === null || result.exitCode !== 0 ? null : stateIn(root, result.stdout);
}

function stateIn(root: string, text: string): TreeState {
  const entries = text.split('\0');
  const field = (line: string, none: string): string | null => {
    const value = entries.find((entry) => entry.startsWith(line))?.slice(line.length);
    return value === undefined || value === none ? null : value;
  };
  const changes = new Map(entries.flatMap((entry) => pathOf(entry).map((path) => [path, entry] as const)));
  const content = markFiles(root, changes.keys(), maxStateBytes);
  const files = new Map([...changes].map(([path, entry]) => [path, `${entry} ${content.get(path)}`]));
  return { head: field(headLine, '(initial)'), branch: field(branchLine, '(detached)'), files };
}

/** Returns the path, which follows a number of fields that depends on the kind of entry. */
function pathOf(entry: string): string[] {
  const fields = { '1': 8, u: 10, '?': 1 }[entry.charAt(0)];
  return fields === undefined ? [] : [entry.split(' ').slice(fields).join(' ')];
}
