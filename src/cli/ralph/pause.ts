import { RalphError } from '../../core/error.ts';
import { isPaused, postPause } from '../../drive/mailbox.ts';
import type { Context } from '../kernel/spec.ts';
import { loopHere } from './note.ts';

export function pause(context: Context): number {
  const { run } = loopHere(context);
  if (context.env.RALPH_RUN_ID === run) {
    throw new RalphError('own-loop', 'this is the loop that you work in: it does not wait for itself', {
      remedy: 'finish the task, or write <promise>BLOCKED: why</promise>',
    });
  }
  postPause(context.env, run, true);
  context.stdout.write(`run ${run} waits after this iteration; ralph unpause lets it go on\n`);
  return 0;
}

export function unpause(context: Context): number {
  const { run } = loopHere(context);
  const wasPaused = isPaused(context.env, run);
  postPause(context.env, run, false);
  context.stdout.write(wasPaused ? `run ${run} goes on\n` : `run ${run} was not paused\n`);
  return 0;
}
