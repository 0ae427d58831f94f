import { RalphError } from '../../core/error.ts';
import { postNote } from '../../drive/mailbox.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { latestRun, readRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from './options.ts';

export function main(context: Context, { args }: Input<typeof noOptions>): number {
  const { run } = loopHere(context);
  const text = args.join(' ').trim();
  if (text === '') throw new RalphError('usage', 'the note is empty', { remedy: 'ralph note "your words"' });
  postNote(context.env, run, text, systemClock.now());
  context.stdout.write(`run ${run} reads it in its next prompt\n`);
  return 0;
}

/** The run of this working copy that is between two iterations, with a supervisor to start the next; null without one. */
export function yieldedRun(cwd: string): string | null {
  const run = runningLoop(cwd) === null ? latestRun(cwd) : null;
  return run !== null && readRun(cwd, run).view.state === 'yielded' ? run : null;
}

/** The loop of this working copy; telling it something makes no sense without one. */
export function loopHere({ cwd }: Context): { run: string } {
  const running = runningLoop(cwd);
  if (running) return running;
  const run = yieldedRun(cwd);
  if (run !== null) {
    const message = `run ${run} is between two iterations: its supervisor starts the next one`;
    throw new RalphError('no-loop', message, { remedy: 'swarm ralph ls, then swarm ralph stop NAME' });
  }
  throw new RalphError('no-loop', 'no loop is running in this folder', {
    remedy: 'ralph run -p "your task"',
  });
}
