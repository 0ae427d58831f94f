import { isPaused, postPause } from '../../drive/mailbox.ts';
import { systemClock } from '../../os/clock.ts';
import { isInsideRun } from '../../os/process/inside-run.ts';
import { ownLoop, requirePerson } from '../kernel/people.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';
import { loopHere, notDriven } from './note.ts';

export async function pause(context: Context): Promise<number> {
  const { env, stdout } = context;
  const { run, isYielded } = loopHere(context);
  if (isInsideRun(env, run)) throw ownLoop('this is the loop that you work in: it does not wait for itself');
  const { pauseWorkerOf } = await import('../../fleet/control.ts');
  if ((await pauseWorkerOf(env, run, systemClock.now())) === null) {
    if (isYielded) throw notDriven(run, 'pause');
    postPause(env, run, true);
  }
  const state = isYielded ? 'is paused' : 'waits after this iteration';
  stdout.write(`run ${run} ${state}; ralph unpause lets it go on\n`);
  return 0;
}

export async function unpause(context: Context): Promise<number> {
  const { env, stdout } = context;
  requirePerson(env);
  const { run, isYielded } = loopHere(context);
  const { resumeWorkerOf } = await import('../../fleet/control.ts');
  const resumed = await resumeWorkerOf(env, run, systemClock.now(), programCommand('swarm'));
  if (resumed === null && isYielded) throw notDriven(run, 'resume');
  const wasPaused = resumed?.changed ?? isPaused(env, run);
  if (resumed === null) postPause(env, run, false);
  stdout.write(wasPaused ? `run ${run} goes on\n` : `run ${run} was not paused\n`);
  return 0;
}
