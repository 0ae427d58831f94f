import { messageOf } from '../../core/error.ts';
import type { SessionContext } from '../context.ts';
import { watchContext } from '../prd/context-monitor.ts';
import type { HookHost } from './host.ts';
import { readHookInput } from './input.ts';

/** The hook after every tool call: says when the context of the session fills up. Never throws. */
export function contextHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): string {
  const read = readHookInput(input, 'transcript');
  if (read === null || read.transcriptPath === null || read.subagent) return '';
  try {
    const session = { sessionId: read.sessionId, transcript: read.transcriptPath };
    return host.print(read.event || 'PostToolUse', watchContext(session, context));
  } catch (error) {
    warn(`ralph: the context monitor failed: ${messageOf(error)}`);
    return '';
  }
}
