import { RalphError } from '../../core/error.ts';
import { postStop } from '../../drive/mailbox.ts';
import { cancelLoop } from '../../drive/session/control.ts';
import { readSessionLoop } from '../../drive/session/session-loops.ts';
import { locateRun, type SessionRun } from '../../drive/session/session-runs.ts';
import { systemClock } from '../../os/clock.ts';
import { isInsideRun } from '../../os/process/inside-run.ts';
import { ownLoop } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { loopHere, notDriven } from './note.ts';
import type { stopOptions } from './options.ts';

const endsItself = 'this is the loop that you work in: it ends when its task is done';

export async function main(context: Context, { values, args }: Input<typeof stopOptions>): Promise<number> {
  const wanted = args[0] === undefined ? null : locateRun(context.env, context.cwd, args[0]);
  if (wanted?.session) return stopSession(wanted.session, context);
  const { run, isYielded } = loopHere(context);
  if (wanted && wanted.run !== run) throw notRunning(wanted.run);
  if (isYielded) return stopWorker(context, run);
  if (isInsideRun(context.env, run)) throw ownLoop(endsItself);
  postStop(context.env, run, values.now ? 'now' : 'iteration');
  context.stdout.write(values.now ? `run ${run} stops now\n` : `run ${run} stops after this iteration\n`);
  return 0;
}

/** Between two iterations no process listens: the loop ends in the fleet. */
async function stopWorker({ env, stdout }: Context, run: string): Promise<number> {
  const { endWorkerOf } = await import('../../fleet/end-worker.ts');
  if (!(await endWorkerOf(env, run, systemClock.now()))) throw notDriven(run, 'stop');
  stdout.write(`run ${run} is stopped\n`);
  return 0;
}

/** A loop inside a session ends at once: its hook finds nothing any more, and lets the agent stop. */
function stopSession({ run, sessionId, status }: SessionRun, { env, stdout }: Context): number {
  if (status === 'ended') throw notRunning(run);
  if (env.CLAUDE_CODE_SESSION_ID === sessionId) throw ownLoop(endsItself);
  for (;;) {
    const read = readSessionLoop(env, sessionId);
    if (read.kind !== 'loop' || read.state.run !== run) throw notRunning(run);
    const message = cancelLoop(read.state, { env, now: systemClock.now });
    if (message === null) continue;
    stdout.write(`${message}\n`);
    return 0;
  }
}

function notRunning(run: string): RalphError {
  return new RalphError('no-loop', `run ${run} does not run any more, or not here`, { remedy: 'ralph runs' });
}
