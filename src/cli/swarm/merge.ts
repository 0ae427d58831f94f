import { mergeWorktree } from '../../fleet/merge.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from '../ralph/options.ts';
import { fault, needWorker, warn } from './context.ts';

/** Brings the work of a worker into the branch that its repository has checked out. */
export async function main(context: Context, { args }: Input<typeof noOptions>): Promise<number> {
  const worker = await needWorker(context, args[0]);
  if (worker.worktree === null) throw fault(`worker '${worker.name}' has no worktree to merge`);
  const merge = await mergeWorktree(worker.name, worker.worktree);
  if (merge.kind === 'up-to-date') {
    context.stdout.write(`${worker.name} is merged into ${merge.into} already\n`);
    return 0;
  }
  const { commits, into, commit, untracked } = merge;
  if (untracked > 0)
    warn(context, `${files(untracked)} of '${worker.name}' that git does not know stayed behind`);
  const how = merge.kind === 'fast-forward' ? 'fast-forward' : 'merge commit';
  context.stdout.write(
    `merged ${commits} commit${commits === 1 ? '' : 's'} of ${worker.name} into ${into} (${how} ${commit})\n`,
  );
  return 0;
}

function files(count: number): string {
  return `${count} file${count === 1 ? '' : 's'}`;
}
