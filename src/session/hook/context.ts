import type { SessionContext } from '../context.ts';
import { watchContext } from '../prd/context-monitor.ts';
import { type Reply, silent } from '../reply.ts';
import type { HookHost } from './host.ts';
import type { HookInput } from './input.ts';

/** The hook after every tool call: says when the context of the session fills up. */
export function contextHook(_host: HookHost, input: HookInput, context: SessionContext): Reply {
  const { sessionId, transcriptPath: transcript, subagent } = input;
  if (transcript === null || subagent) return silent;
  return watchContext({ sessionId: sessionId ?? transcript, transcript }, context);
}
