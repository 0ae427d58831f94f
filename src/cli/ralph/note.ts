import { RalphError } from '../../core/error.ts';
import { isQuestionOpen } from '../../drive/human.ts';
import { postNote } from '../../drive/mailbox.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { latestRun, readRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from './options.ts';

export function main(context: Context, { args }: Input<typeof noOptions>): number {
  requirePerson(context.env);
  const { run } = loopHere(context);
  const text = args.join(' ').trim();
  if (text === '') throw new RalphError('usage', 'the note is empty', { remedy: 'ralph note "your words"' });
  postNote(context.env, run, text, systemClock.now());
  context.stdout.write(`run ${run} reads it in its next prompt\n`);
  return 0;
}

/** The loop of this working copy: one that runs, or one between two iterations (`isYielded`). */
export function loopHere({ cwd, env }: Context): { readonly run: string; readonly isYielded: boolean } {
  const running = runningLoop(cwd);
  if (running) return { run: running.run, isYielded: false };
  const run = latestRun(cwd);
  if (run !== null && readRun(cwd, run).view.state === 'yielded') return { run, isYielded: true };
  const remedy = isQuestionOpen(env, cwd) ? 'ralph answer "your words"' : 'ralph runs';
  throw new RalphError('no-loop', 'no loop is running in this folder', { remedy });
}

/** The error for a run between two iterations whose supervisor is not on this machine, or not ours. */
export function notDriven(run: string, action: 'pause' | 'resume' | 'stop'): RalphError {
  const message = `run ${run} is between two iterations: its supervisor starts the next one`;
  return new RalphError('no-loop', message, { remedy: `swarm ralph ls, then swarm ralph ${action} NAME` });
}
