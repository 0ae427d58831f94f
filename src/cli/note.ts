import { RalphError } from '../core/error.ts';
import { runningLoop } from '../loop/ownership.ts';
import { postNote } from '../store/mailbox.ts';
import { latestRun, readRun } from '../store/runs.ts';
import { systemClock } from '../system/clock.ts';
import type { noteOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { args }: Input<typeof noteOptions>): number {
  const { run } = loopHere(context);
  const text = args.join(' ').trim();
  if (text === '') throw new RalphError('usage', 'the note is empty', { remedy: 'ralph note "your words"' });
  postNote(context.env, run, text, systemClock.now());
  context.stdout.write(`run ${run} reads it in its next prompt\n`);
  return 0;
}

/** The loop of this working copy; telling it something makes no sense without one. */
export function loopHere({ cwd }: Context): { run: string; pid: number } {
  const running = runningLoop(cwd);
  if (running) return running;
  const run = latestRun(cwd);
  if (run !== null && readRun(cwd, run).view.state === 'yielded') {
    const message = `run ${run} is between two iterations: its supervisor starts the next one`;
    throw new RalphError('no-loop', message, { remedy: 'swarm ralph ls, then swarm ralph stop NAME' });
  }
  throw new RalphError('no-loop', 'no loop is running in this folder', {
    remedy: 'ralph run -p "your task"',
  });
}
