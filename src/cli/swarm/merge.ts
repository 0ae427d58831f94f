import { plural } from '../../core/text.ts';
import { mergeWorktree } from '../../fleet/merge.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from '../ralph/options.ts';
import { fault, needWorker, warn } from './context.ts';

export async function main(context: Context, { args }: Input<typeof noOptions>): Promise<void> {
  const worker = await needWorker(context, args[0]);
  if (worker.worktree === null) throw fault(`worker '${worker.name}' has no worktree to merge`);
  const merge = await mergeWorktree(worker.name, worker.worktree);
  if (merge.kind === 'up-to-date') {
    context.stdout.write(`${worker.name} is merged into ${merge.into} already\n`);
    return;
  }
  const { commits, into, commit, untracked } = merge;
  if (untracked > 0)
    warn(context, `${plural(untracked, 'file')} of '${worker.name}' that git does not know stayed behind`);
  const how = merge.kind === 'fast-forward' ? 'fast-forward' : 'merge commit';
  const text = `merged ${plural(commits, 'commit')} of ${worker.name} into ${into} (${how} ${commit})`;
  context.stdout.write(`${text}\n`);
}
