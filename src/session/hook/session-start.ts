import { messageOf } from '../../core/error.ts';
import { rearmAlerts } from '../../store/context-alerts.ts';
import {
  adoptSessionLoop,
  isDrivenElsewhere,
  readSessionLoop,
  type SessionLoop,
} from '../../store/session-loops.ts';
import type { SessionContext } from '../context.ts';
import { reminderMessage } from '../messages.ts';
import type { HookHost } from './host.ts';
import { type HookInput, readHookInput } from './input.ts';

/** The hook of a session that starts: its context alerts are armed again, and after a compaction or a resume the task is told again. Never throws. */
export function sessionStartHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): string {
  const read = readHookInput(input);
  if (read === null) return '';
  try {
    rearmAlerts(context.env, read.sessionId, context.now());
    if (read.source !== 'compact' && read.source !== 'resume') return '';
    const state = loopOf(read, context);
    if (state === null || isDrivenElsewhere(state, context.driver)) return '';
    return host.print(read.event, { kind: 'context', message: reminderMessage(state) });
  } catch (error) {
    warn(`ralph: the session start hook failed: ${messageOf(error)}`);
    return '';
  }
}

/** A session that got a new id keeps its transcript, and by that its loop; nothing else makes a loop its own. */
function loopOf(read: HookInput, { env }: SessionContext): SessionLoop | null {
  const found = readSessionLoop(env, read.sessionId);
  if (found.kind === 'loop') return found.state;
  if (found.kind === 'set-aside' || read.source !== 'resume' || read.transcriptPath === null) return null;
  return adoptSessionLoop(env, read.sessionId, read.transcriptPath);
}
