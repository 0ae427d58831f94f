import type { Progress } from '../../core/turn.ts';
import { changedBetween, markFolder } from '../../os/files/file-marks.ts';
import { countCommits, findRepository } from '../../os/git/git.ts';
import { type TreeState, treeState } from '../../os/git/tree-state.ts';

const mostFiles = 50;

/** Working copy, and what the last turn changed in it. */
export type WorkingCopy = {
  /** The top folder of the working copy; null without git. */
  readonly root: string | null;
  /** The commit that was checked out at the last look; null without one. */
  head(): string | null;
  /** The branch that was checked out at the last look; null without one. */
  branch(): string | null;
  /** Starts looking now, for instance while the agent's process is still ending. */
  look(): void;
  /** Returns the changes since the last call, as of `look` if it was called, else as of now. */
  progress(): Promise<Progress>;
  /** Counts all changes up to now as ours, not the agent's. */
  forgive(): Promise<void>;
};

/**
 * Opens the working copy with the repository that is there now, also if the agent makes another one later; without one,
 * by size and time of the files. Around a sandbox, git must not run filters: they may be programs of the agent's.
 */
export async function openWorkingCopy(
  cwd: string,
  { sandboxed }: { readonly sandboxed: boolean },
): Promise<WorkingCopy> {
  const root = findRepository(cwd);
  const look = () => stateOf(cwd, root, !sandboxed);
  let before = await look();
  let looking: Promise<TreeState> | null = null;
  return {
    root,
    head: () => before.head,
    branch: () => before.branch,
    look() {
      looking = look();
    },
    async forgive() {
      before = await look();
    },
    async progress() {
      const after = await (looking ?? look());
      looking = null;
      const headMoved = after.head !== before.head;
      const commits = headMoved ? ((await countCommits(root ?? cwd, before.head)) ?? 1) : 0;
      const changed = changedBetween(before.files, after.files);
      before = after;
      // A HEAD that moved back is a change, too, though it counts no new commit.
      return {
        commits: headMoved ? Math.max(1, commits) : 0,
        filesChanged: changed.length,
        ...(changed.length > 0 ? { files: changed.slice(0, mostFiles) } : {}),
      };
    },
  };
}

async function stateOf(cwd: string, root: string | null, filters: boolean): Promise<TreeState> {
  const state = root === null ? null : await treeState(root, { top: root, filters });
  return state ?? folderOf(cwd);
}

function folderOf(cwd: string): TreeState {
  return { head: null, branch: null, files: markFolder(cwd) ?? new Map() };
}
