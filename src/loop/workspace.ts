import type { Progress } from '../core/turn.ts';
import { changedBetween, markFolder } from '../system/file-marks.ts';
import { countCommits, findRepository } from '../system/git.ts';
import { type TreeState, treeState } from '../system/tree-state.ts';

const keptFiles = 50;

/** The working copy as the loop watches it: did the last turn move anything? */
export type Workspace = {
  /** The top folder of the working copy; null without git. */
  readonly root: string | null;
  /** The commit that was checked out at the last look; null without one. */
  head(): string | null;
  /** Starts looking now, for instance while the agent's process is still ending. */
  look(): void;
  /** What changed since the last time, by `look` if it was called, else now. */
  progress(): Promise<Progress>;
  /** What changed up to now is ours, not the agent's. */
  forgive(): Promise<void>;
};

/**
 * Works with the repository that is there now, whatever the agent makes of a folder in it, and by size and time of the files in
 * a folder without one. Around a sandbox, git must not run filters: they may be programs of the agent's.
 */
export async function openWorkspace(
  cwd: string,
  { sandboxed }: { readonly sandboxed: boolean },
): Promise<Workspace> {
  const root = findRepository(cwd);
  const look = () => stateOf(cwd, root, !sandboxed);
  let before = await look();
  let looking: Promise<TreeState> | null = null;
  return {
    root,
    head: () => before.head,
    look() {
      looking = look();
    },
    async forgive() {
      before = await look();
    },
    async progress() {
      const after = await (looking ?? look());
      looking = null;
      const moved = after.head !== before.head;
      const commits = moved ? ((await countCommits(root ?? cwd, before.head)) ?? 1) : 0;
      const changed = changedBetween(before.files, after.files);
      before = after;
      // A HEAD that moved back is a change, too, though it counts no new commit.
      return {
        commits: moved ? Math.max(1, commits) : 0,
        filesChanged: changed.length,
        ...(changed.length > 0 ? { files: changed.slice(0, keptFiles) } : {}),
      };
    },
  };
}

async function stateOf(cwd: string, root: string | null, filters: boolean): Promise<TreeState> {
  const state = root === null ? null : await treeState(root, { top: root, filters });
  return state ?? folderOf(cwd);
}

function folderOf(cwd: string): TreeState {
  return { head: null, files: markFolder(cwd) ?? new Map() };
}
