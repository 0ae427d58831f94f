import type { HookHost } from '../../agents/host.ts';
import { type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { reminderMessage } from '../session/loop-messages.ts';
import { adoptSessionLoop, isDrivenElsewhere, readSessionLoop } from '../session/session-loops.ts';
import { rearmAlerts } from './context-alerts.ts';
import { type HookInput, hasSession, type SessionInput } from './input.ts';

/** Resets the context alerts of a starting session, and repeats the task after a compaction or a resume. */
export function sessionStartHook(
  _host: HookHost,
  input: HookInput,
  { env, now, driver }: SessionContext,
): Reply {
  if (!hasSession(input)) return silent;
  rearmAlerts(env, input.sessionId, now());
  if (input.source !== 'compact' && input.source !== 'resume') return silent;
  const state = loopOf(input, env);
  if (state === null || isDrivenElsewhere(state, driver)) return silent;
  return { kind: 'context', message: reminderMessage(state) };
}

/** Finds the loop of a session. A resumed session with a new id keeps its transcript, and by that its loop. */
function loopOf({ sessionId, source, transcriptPath }: SessionInput, env: SessionContext['env']) {
  const lookup = readSessionLoop(env, sessionId);
  if (lookup.kind === 'loop') return lookup.state;
  if (lookup.kind === 'set-aside' || source !== 'resume' || transcriptPath === null) return null;
  return adoptSessionLoop(env, sessionId, transcriptPath);
}
