import { RalphError } from '../core/error.ts';
import { cancelLoop } from '../session/control.ts';
import { postStop } from '../store/mailbox.ts';
import { readSessionLoop } from '../store/session-loops.ts';
import { locateRun, type SessionRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { loopHere } from './note.ts';
import type { stopOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values, args }: Input<typeof stopOptions>): number {
  const wanted = args[0] === undefined ? null : locateRun(context.env, context.cwd, args[0]);
  if (wanted?.session) return stopSession(wanted.session, context);
  const { run } = loopHere(context);
  if (wanted && wanted.run !== run) throw notRunning(wanted.run);
  if (context.env.RALPH_RUN_ID === run) throw ownLoop();
  postStop(context.env, run, values.now ? 'now' : 'iteration');
  context.stdout.write(values.now ? `run ${run} stops now\n` : `run ${run} stops after this iteration\n`);
  return 0;
}

/** A loop inside a session ends at once: its hook finds nothing any more, and lets the agent stop. */
function stopSession({ run, sessionId, status }: SessionRun, { env, stdout }: Context): number {
  if (status === 'ended') throw notRunning(run);
  if (env.CLAUDE_CODE_SESSION_ID === sessionId) throw ownLoop();
  for (;;) {
    const read = readSessionLoop(env, sessionId);
    if (read.kind !== 'loop' || read.state.run !== run) throw notRunning(run);
    const reply = cancelLoop(read.state, { env, now: systemClock.now });
    if (reply?.kind !== 'answer') continue;
    stdout.write(`${reply.message}\n`);
    return 0;
  }
}

function ownLoop(): RalphError {
  return new RalphError('own-loop', 'this is the loop that you work in: it ends when its task is done', {
    remedy: 'finish the task, or write <promise>BLOCKED: why</promise>',
  });
}

function notRunning(run: string): RalphError {
  return new RalphError('no-loop', `run ${run} does not run any more, or not here`, { remedy: 'ralph runs' });
}
