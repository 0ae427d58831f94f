import { messageOf } from '../../../core/error.ts';
import {
  hasSessionLoop,
  readSessionLoop,
  type SessionLoop,
  updateSessionLoop,
} from '../../../store/session-loops.ts';
import type { Clock } from '../../../system/clock.ts';
import type { SessionContext } from '../../context.ts';
import { cancelLoop } from '../../control.ts';
import { iterationText } from '../../messages.ts';
import { recorder } from '../../record.ts';
import { atStop } from '../../stop.ts';
import type { createHost } from './client.ts';
import { continuation, type Look, lookAt } from './turn.ts';

/** After an error, OpenCode gets this long to recover by itself. */
const recoveryMs = 5000;

/** What is known of a session besides its loop. */
type Session = {
  /** From an idle event to its prompt; another idle event starts nothing then. */
  busy: boolean;
  /** The user wrote, or an error came, since the idle event: no prompt may follow from it. */
  overtaken: boolean;
  /** An idle event that could not be acted on yet. */
  missed: boolean;
  /** What went wrong since the last prompt. */
  error: string | null;
  cancelRecovery: (() => void) | null;
};

type Parts = {
  readonly host: ReturnType<typeof createHost>;
  readonly context: SessionContext;
  readonly clock: Clock;
};

/** Turns idle events into prompts: at most one each, and none that the user, an error or a cancel overtook. */
export function createDriver({ host, context, clock }: Parts) {
  const { env } = context;
  const sessions = new Map<string, Session>();

  function sessionOf(id: string): Session {
    const known = sessions.get(id);
    if (known) return known;
    const fresh = { busy: false, overtaken: false, missed: false, error: null, cancelRecovery: null };
    sessions.set(id, fresh);
    return fresh;
  }

  async function idle(id: string): Promise<void> {
    if (!hasSessionLoop(env, id)) return;
    const session = sessionOf(id);
    if (session.busy || session.cancelRecovery !== null) {
      session.missed = true;
      return;
    }
    session.busy = true;
    try {
      do {
        session.missed = false;
        session.overtaken = false;
        await judge(id, session);
      } while (session.missed && session.cancelRecovery === null);
    } catch (error) {
      host.log.error('The turn could not be judged', { id, error: messageOf(error) });
    } finally {
      session.busy = false;
    }
  }

  async function judge(id: string, session: Session): Promise<void> {
    const before = loopOf(id);
    if (before === null) return;
    const look = lookAt(await host.getMessages(id));
    const { error } = session;
    // A second idle event of a turn that was judged already finds no answer yet.
    if (session.overtaken || (error === null && !look.isAnswered(before.transcript))) return;
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
    if (reply.kind === 'continue' && after !== null) {
      session.error = null;
      await send(id, session, { before, after, look, prompt: reply.message, error });
    }
  }

  async function send(
    id: string,
    session: Session,
    plan: { before: SessionLoop; after: SessionLoop; look: Look; prompt: string; error: string | null },
  ): Promise<void> {
    const { before, after, look, prompt, error } = plan;
    const takeBack = (why: string) => {
      session.error ??= error;
      const change = {
        loop: before.loop,
        transcript: before.transcript,
        turnStartedAt: before.turnStartedAt,
      };
      const note = recorder(
        [{ type: 'notice', text: `iteration ${after.loop.iteration} was not started: ${why}` }],
        context.now,
      );
      updateSessionLoop(env, after, change, note);
    };
    const now = await host.getMessages(id).then(lookAt, () => look);
    if (session.overtaken || now.lastUser !== look.lastUser)
      return takeBack('the session went on without it');
    // Somebody cancelled or paused it meanwhile.
    if (loopOf(id)?.revision !== after.revision) return;
    try {
      await host.injectPrompt(id, prompt);
    } catch (failure) {
      const why = messageOf(failure);
      const message = `Iteration ${after.loop.iteration} could not be started: ${why}. It is tried again when the session is idle.`;
      host.showToast({ title: 'Ralph Loop', message, variant: 'error', duration: 5000 });
      return takeBack(why);
    }
    host.showToast({
      title: 'Ralph Loop',
      message: iterationText(after.loop),
      variant: 'info',
      duration: 2000,
    });
  }

  function failed(id: string, error: string): void {
    if (!hasSessionLoop(env, id)) return;
    const session = sessionOf(id);
    session.error = error;
    if (session.busy) {
      session.overtaken = true;
      session.missed = true;
    }
    session.cancelRecovery?.();
    session.cancelRecovery = clock.timer(recoveryMs, () => {
      session.cancelRecovery = null;
      if (session.missed) void idle(id);
    });
  }

  function userWrote(id: string): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.overtaken = true;
    session.missed = false;
    session.error = null;
  }

  /** Ends the loop of a session, whatever it is doing. */
  function end(id: string, why: string): void {
    forget(id);
    for (let state = loopOf(id); state !== null; state = loopOf(id)) {
      if (cancelLoop(state, context, why)) return;
    }
  }

  function loopOf(id: string): SessionLoop | null {
    const read = readSessionLoop(env, id);
    return read.kind === 'loop' ? read.state : null;
  }

  function forget(id: string): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.overtaken = true;
    session.cancelRecovery?.();
    sessions.delete(id);
  }

  function dispose(): void {
    for (const id of [...sessions.keys()]) forget(id);
  }

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
