import type { HookHost } from '../../agents/host.ts';
import { pauseLoop } from '../session/control.ts';
import { type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { activeLoop, isDrivenElsewhere } from '../session/session-loops.ts';
import type { HookInput } from './input.ts';
import { turnReader } from './turn-reader.ts';

/** Pauses the loop when the user breaks a turn off. */
export function interruptHook(
  host: HookHost,
  { sessionId, subagent, transcriptPath, lastMessage }: HookInput,
  context: SessionContext,
): Reply {
  if (sessionId === null || subagent) return silent;
  const state = activeLoop(context.env, sessionId);
  if (state === null || isDrivenElsewhere(state, context.driver)) return silent;
  const turn = turnReader(host, { transcriptPath, lastMessage })(state.transcript, state.minToolCalls);
  return pauseLoop(state, turn, 'you interrupted it', context);
}
