import { messageOf } from '../../core/error.ts';
import { isDrivenElsewhere, readSessionLoop } from '../../store/session-loops.ts';
import type { SessionContext } from '../context.ts';
import { pauseLoop } from '../control.ts';
import type { HookHost } from './host.ts';
import { readHookInput } from './input.ts';

/** The hook of a user who breaks a turn off: the loop is paused. Never throws. */
export function interruptHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): string {
  const read = readHookInput(input);
  if (read === null || read.subagent) return '';
  try {
    const found = readSessionLoop(context.env, read.sessionId);
    if (found.kind !== 'loop' || found.state.status !== 'active') return '';
    if (isDrivenElsewhere(found.state, context.driver)) return '';
    return host.print(read.event, pauseLoop(found.state, 'you interrupted it', context));
  } catch (error) {
    warn(`ralph: the interrupt hook failed: ${messageOf(error)}`);
    return '';
  }
}
