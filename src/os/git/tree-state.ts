import { type FileMarks, markFiles } from '../files/file-marks.ts';
import { committedOnly, lookWithGit, runGit, workOnly } from './git.ts';

/** A working copy: its commit and branch, and a fingerprint of each file that differs from it. */
export type TreeState = {
  readonly head: string | null;
  /** Null without one, also if a commit is checked out by itself. */
  readonly branch: string | null;
  readonly files: FileMarks;
};

const headLine = '# branch.oid ';
const branchLine = '# branch.head ';
const maxStateBytes = 16 * 1024 * 1024;
const statusWords = [
  ...['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'],
  ...[committedOnly, '--untracked-files=all', ...workOnly],
];

/**
 * Reads the state of a working copy by its top folder, with one call of git if it may run the filters of its
 * configuration, as it does for the user; null if git cannot.
 */
export async function treeState(
  top: string,
  { filters = false }: { readonly filters?: boolean } = {},
): Promise<TreeState | null> {
  const result = await (filters ? runGit(top, statusWords) : lookWithGit(top, statusWords));
  return result.exitCode === 0 ? stateIn(top, result.stdout) : null;
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
