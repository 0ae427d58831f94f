import { dirname } from 'node:path';
import { endWorker } from '../../fleet/end-worker.ts';
import { loopOf } from '../../fleet/files/loops.ts';
import { stamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { checkStart, startWorker } from '../../fleet/spawn.ts';
import { ensureSupervisor } from '../../fleet/supervisor-start.ts';
import { removeWorktree } from '../../fleet/worktree-dirt.ts';
import { createWorktree, type NewWorktree, worktreeExists } from '../../fleet/worktrees.ts';
import { systemClock } from '../../os/clock.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, needWorker, placeText } from './context.ts';
import type { respawnOptions } from './options.ts';

export async function main(context: Context, { values, args }: Input<typeof respawnOptions>) {
  const { env } = context;
  const old = await needWorker(context, args[0]);
  const worker = await holdWorker(env, old.name, async () => {
    const record = loopOf(env, old);
    if (old.metadata.ralph === true && record === null) {
      throw fault(`the loop of '${old.name}' is gone`, 'swarm spawn --ralph again');
    }
    const loop = record && { settings: record.settings, options: record.options, held: false };
    // Checks first, if the folder is there and need not be made.
    if (old.worktree === null || (await worktreeExists(old.worktree))) checkStart(env, old, loop);
    await endWorker(env, old, systemClock.now());
    const worktree = await freshWorktree(context, old, {
      clean: values['clean-first'] === true,
      force: values['force-dirty'] === true,
    });
    try {
      const fresh: Worker = {
        ...old,
        worktree: worktree?.place ?? old.worktree,
        status: 'running',
        started: stamp(systemClock.now()),
        pid: null,
        metadata: loop === null ? {} : { ralph: true, ralph_iteration: 0 },
      };
      checkStart(env, fresh, loop);
      const running = await startWorker(env, fresh, { loop, before: old }, () => systemClock.now());
      worktree?.keep();
      return running;
    } catch (error) {
      await worktree?.undo();
      throw error;
    }
  });
  if (worker.metadata.ralph === true) await ensureSupervisor(env, programCommand('swarm'));
  context.stdout.write(`respawned ${worker.name} (${placeText(worker)})\n`);
}

/** Makes the worktree anew if it is gone or has to be clean; null if it stays as it is. */
async function freshWorktree(
  context: Context,
  { name, worktree }: Worker,
  { clean, force }: { readonly clean: boolean; readonly force: boolean },
): Promise<NewWorktree | null> {
  if (worktree === null) return null;
  if (clean) {
    const removal = await removeWorktree(worktree, force);
    if (!removal.removed) {
      context.stderr.write(`swarm: error: cannot remove worktree: ${removal.because}\n`);
      context.stderr.write(`swarm: worktree at: ${worktree.path}\n`);
      throw fault('use --force-dirty to remove anyway, or commit changes first');
    }
  } else if (await worktreeExists(worktree)) return null;
  return createWorktree(context.env, {
    name,
    cwd: worktree.base_repo,
    branch: worktree.branch,
    dir: dirname(worktree.path),
  });
}
