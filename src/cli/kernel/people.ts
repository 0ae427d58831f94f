import { RalphError } from '../../core/error.ts';
import { hasSessionLoop } from '../../drive/session/session-paths.ts';
import { isInsideRun } from '../../os/process/inside-run.ts';
import type { Environment } from '../../os/process/program.ts';

/** Fails inside a loop: an agent must not answer what it asked a person, or pass its words off as a person's. */
export function requirePerson(env: Environment): void {
  const session = env.CLAUDE_CODE_SESSION_ID;
  if (!isInsideRun(env) && !(session && hasSessionLoop(env, session))) return;
  throw ownLoop('only a person can do this, from outside the loop that you work in', 'DECIDE: your question');
}

/** The error for an agent that wants to control its loop. */
export function ownLoop(message: string, promise = 'BLOCKED: why'): RalphError {
  return new RalphError('own-loop', message, {
    remedy: `finish the task, or write <promise>${promise}</promise>`,
  });
}
