import type { Progress } from '../core/turn.ts';
import { folderState } from '../system/folder-state.ts';
import { countCommits, headCommit, treeState } from '../system/git.ts';

/** The working copy as the loop watches it: did the last turn move anything? */
export type Workspace = {
  /** Starts looking now, for instance while the agent's process is still ending. */
  look(): void;
  /** What changed since the last time, by `look` if it was called, else now. */
  progress(): Promise<Progress>;
  /** What changed up to now is ours, not the agent's. */
  forgive(): Promise<void>;
};

type State = { readonly head: string | null; readonly tree: string | null };

/** Works with git, and by size and time of the files in a folder without it. */
export async function openWorkspace(cwd: string): Promise<Workspace> {
  let before = await stateOf(cwd);
  let looking: Promise<State> | null = null;
  return {
    look() {
      looking = stateOf(cwd);
    },
    async forgive() {
      before = await stateOf(cwd);
    },
    async progress() {
      const after = await (looking ?? stateOf(cwd));
      looking = null;
      const moved = after.head !== before.head;
      const commits = moved ? ((await countCommits(cwd, before.head)) ?? 1) : 0;
      const changed = after.tree !== before.tree;
      before = after;
      return { commits: moved ? Math.max(1, commits) : 0, filesChanged: changed ? 1 : 0 };
    },
  };
}

async function stateOf(cwd: string): Promise<State> {
  const [head, tree] = await Promise.all([headCommit(cwd), treeState(cwd)]);
  return { head, tree: tree ?? (await folderState(cwd)) };
}
