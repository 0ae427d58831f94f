import type { HookHost } from '../../agents/host.ts';
import { pauseLoop } from '../session/control.ts';
import { noticeOf, type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { isDrivenElsewhere, openLoop } from '../session/session-loops.ts';
import { type HookInput, turnReader } from './input.ts';

/** Pauses the loop when the user breaks a turn off. */
export function interruptHook(
  host: HookHost,
  { sessionId, subagent, transcriptPath, lastMessage }: HookInput,
  context: SessionContext,
): Reply {
  if (sessionId === null || subagent) return silent;
  const state = openLoop(context.env, sessionId);
  if (state?.status !== 'active' || isDrivenElsewhere(state, context.driver)) return silent;
  const turn = turnReader(host, { transcriptPath, lastMessage })(state.transcript);
  return noticeOf(pauseLoop(state, turn, 'you interrupted it', context));
}
