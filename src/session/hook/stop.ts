import { messageOf } from '../../core/error.ts';
import { readSessionLoop } from '../../store/session-loops.ts';
import type { SessionContext } from '../context.ts';
import { continuationMessage } from '../messages.ts';
import { type Reply, silent } from '../reply.ts';
import { atStop } from '../stop.ts';
import type { HookHost } from './host.ts';
import { type HookInput, readHookInput } from './input.ts';

/** The hook of an agent that is about to stop: what it prints for what it reads. Never throws. */
export async function stopHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): Promise<string> {
  const read = readHookInput(input);
  if (read === null) return '';
  try {
    return host.print(read.event, await reply(host, read, context));
  } catch (error) {
    warn(`ralph: the stop hook failed: ${messageOf(error)}`);
    return host.print(read.event, afterFailure(read, context));
  }
}

function reply(host: HookHost, read: HookInput, context: SessionContext): Promise<Reply> {
  const { sessionId, subagent, planMode, backgroundTasks, transcriptPath, lastMessage } = read;
  return atStop(
    {
      sessionId,
      subagent,
      planMode,
      backgroundTasks,
      readTurn: (from, wantedCalls) => host.readTurn(transcriptPath, from, lastMessage, wantedCalls),
    },
    context,
  );
}

/** A fault of ours must not end a loop in silence: while its state says that it is active, the work goes on. */
function afterFailure(read: HookInput, { env }: SessionContext): Reply {
  try {
    const found = readSessionLoop(env, read.sessionId);
    if (found.kind !== 'loop' || found.state.status !== 'active' || read.subagent || read.planMode)
      return silent;
    return { kind: 'continue', message: continuationMessage(found.state) };
  } catch {
    return silent;
  }
}
