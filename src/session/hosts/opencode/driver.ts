import {
  hasSessionLoop,
  readSessionLoop,
  type SessionLoop,
  updateSessionLoop,
} from '../../../store/session-loops.ts';
import type { Clock } from '../../../system/clock.ts';
import type { SessionContext } from '../../context.ts';
import { cancelLoop } from '../../control.ts';
import { type Continuation, createIdleDriver, type IdleTurn } from '../../idle-driver.ts';
import { iterationText } from '../../messages.ts';
import { recorder } from '../../record.ts';
import { atStop } from '../../stop.ts';
import type { createHost } from './client.ts';
import { continuation, lookAt } from './turn.ts';

const recoveryMs = 5000;

type Parts = {
  readonly host: ReturnType<typeof createHost>;
  readonly context: SessionContext;
  readonly clock: Clock;
};

/** Drives the loops of OpenCode sessions, whose state is that of every session loop. */
export function createDriver({ host, context, clock }: Parts) {
  const { env } = context;
  const { log, getMessages, injectPrompt } = host;
  const driver = createIdleDriver({ clock, log, delayMs: 0, recoveryMs, getMessages, injectPrompt, judge });

  async function judge({ id, messages, error }: IdleTurn): Promise<Continuation | null> {
    const before = loopOf(id);
    if (before === null) return null;
    const look = lookAt(messages);
    // A second idle event of a turn that was judged already finds no answer yet.
    if (error === null && !look.isAnswered(before.transcript)) return null;
    const reply = await atStop(
      {
        sessionId: id,
        subagent: false,
        planMode: false,
        backgroundTasks: [],
        readTurn: (from) => look.read(from, error),
        continuation,
      },
      context,
    );
    if (reply.kind === 'notice') host.showToast(endToast(reply.notice));
    const after = reply.kind === 'continue' ? loopOf(id) : null;
    return reply.kind === 'continue' && after !== null ? sendBack(before, after, reply.message) : null;
  }

  function sendBack(before: SessionLoop, after: SessionLoop, prompt: string): Continuation {
    const { loop, transcript, turnStartedAt } = before;
    const { iteration } = after.loop;
    return {
      prompt,
      isCurrent: () => loopOf(before.sessionId)?.revision === after.revision,
      sending() {
        const message = iterationText(after.loop);
        host.showToast({ title: 'Ralph Loop', message, variant: 'info', duration: 2000 });
      },
      takeBack(why) {
        const text = `iteration ${iteration} was not started: ${why}`;
        const note = recorder([{ type: 'notice', text }], context.now);
        updateSessionLoop(env, after, { loop, transcript, turnStartedAt }, note);
      },
      failed(why) {
        const message = `Iteration ${iteration} could not be started: ${why}. It is tried again when the session is idle.`;
        host.showToast({ title: 'Ralph Loop', message, variant: 'error', duration: 5000 });
      },
    };
  }

  async function idle(id: string): Promise<void> {
    if (hasSessionLoop(env, id)) await driver.idle(id);
  }

  function failed(id: string, error: string): void {
    if (hasSessionLoop(env, id)) driver.failed(id, error);
  }

  /** Ends the loop of a session, whatever it is doing. */
  function end(id: string, why: string): void {
    driver.forget(id);
    for (let state = loopOf(id); state !== null; state = loopOf(id)) {
      if (cancelLoop(state, context, why)) return;
    }
  }

  function loopOf(id: string): SessionLoop | null {
    const stored = readSessionLoop(env, id);
    return stored.kind === 'loop' ? stored.state : null;
  }

  const { userWrote, forget, dispose } = driver;
  return { idle, failed, userWrote, end, forget, loopOf, dispose };
}

function endToast(message: string) {
  const accepted = message.includes('PROMISE_ACCEPTED');
  return {
    title: accepted ? 'Ralph Loop Complete!' : 'Ralph Loop',
    message,
    variant: accepted ? ('success' as const) : ('warning' as const),
    duration: 5000,
  };
}
