import { join } from 'node:path';
import { runPaths } from '../../config/paths.ts';
import type { Progress } from '../../core/turn.ts';
import type { Place } from '../../journal/turn-events.ts';
import { changedBetween, markFolder } from '../../os/files/file-marks.ts';
import { lstatOf } from '../../os/files/files.ts';
import { countCommits, findRepository } from '../../os/git/git.ts';
import { changedFiles } from '../../os/git/git-diff.ts';
import { keepSnapshot, sweepSnapshots } from '../../os/git/snapshot.ts';
import { type TreeState, treeState } from '../../os/git/tree-state.ts';

const mostFiles = 50;

export type WorkingCopy = Awaited<ReturnType<typeof openWorkingCopy>>;

/**
 * Opens the working copy with the repository that is there now, also if the agent makes another one later; without one,
 * by size and time of the files. Around a sandbox, git must not run filters: they may be programs of the agent's.
 */
export async function openWorkingCopy(cwd: string, { sandboxed }: { readonly sandboxed: boolean }) {
  const root = findRepository(cwd);
  const look = async (): Promise<TreeState> => {
    const state = root === null ? null : await treeState(root, { filters: !sandboxed });
    return state ?? { head: null, branch: null, files: markFolder(cwd) ?? new Map() };
  };
  const first = await look();
  let before = first;
  let looking: Promise<TreeState> | null = null;
  const snapshots = root === null ? null : createSnapshots(cwd, root);
  return {
    /** The top folder of the working copy; null without git. */
    root,
    /** The commit and the branch that were checked out at the last look; null without one. */
    head: () => before.head,
    branch: () => before.branch,
    /** Returns a sentence about the repository of the start if it is gone; null if it is there, or there was none. */
    lost(): string | null {
      const path = root === null ? null : join(root, '.git');
      return path === null || lstatOf(path) !== null ? null : `the repository is gone: there is no ${path}`;
    },
    /** Starts looking now, for instance while the agent's process is still ending. */
    look(): void {
      looking = look();
      // Told when it is asked for.
      looking.catch(() => {});
    },
    /** Returns the files that git does not track: those that are new since the run began, and those that were there. */
    async untracked() {
      const { files } = await look();
      const paths = [...files.keys()].filter((path) => files.get(path)?.startsWith('? '));
      const isOld = (path: string) => first.files.get(path) === files.get(path);
      return { fresh: paths.filter((path) => !isOld(path)), old: paths.filter(isOld) };
    },
    /** Counts all changes up to now as ours, not the agent's. */
    async forgive(): Promise<void> {
      before = await look();
    },
    /** Returns the changes since the last call, as of `look` if it was called, else as of now. */
    async progress(): Promise<Progress> {
      const after = await (looking ?? look());
      looking = null;
      const [commits, files] = await commitsBetween(root ?? cwd, before.head, after.head);
      const changed = [...new Set([...files, ...changedBetween(before.files, after.files)])];
      before = after;
      return {
        commits,
        filesChanged: changed.length,
        ...(changed.length > 0 ? { files: changed.slice(0, mostFiles) } : {}),
      };
    },
    /** Returns the commit and, if files differ from it, the snapshot of the last look. */
    async place(run: string): Promise<Place> {
      const { head } = before;
      const tree = (await snapshots?.(run, before)) ?? null;
      return { ...(head === null ? {} : { head }), ...(tree === null ? {} : { tree }) };
    },
  };
}

/** Counts the commits from one HEAD to the other, and lists their files. */
async function commitsBetween(
  root: string,
  from: string | null,
  to: string | null,
): Promise<[number, readonly string[]]> {
  if (from === to) return [0, []];
  const [count, files] = await Promise.all([countCommits(root, from), changedFiles(root, from, to)]);
  // A HEAD that moved back is a change, too, though it counts no new commit.
  return [Math.max(1, count ?? 1), files];
}

/** Keeps a snapshot of each new state of files that differ from HEAD. */
function createSnapshots(cwd: string, top: string) {
  let last: { readonly state: TreeState; readonly commit: string } | null = null;
  return async (run: string, state: TreeState): Promise<string | null> => {
    if (state.files.size === 0) return null;
    const isSame =
      last?.state.head === state.head && changedBetween(last.state.files, state.files).length === 0;
    if (last !== null && isSame) return last.commit;
    const spec = { top, run, home: runPaths(cwd, run).root };
    const commit = await keepSnapshot(spec, state, last?.commit ?? (await sweepSnapshots(spec)));
    if (commit !== null) last = { state, commit };
    return commit;
  };
}
