import { RalphError } from '../../core/error.ts';
import { hasSessionLoop } from '../../drive/session/session-paths.ts';
import { inheritedValues, isInsideRun } from '../../os/process/inside-run.ts';
import type { Environment } from '../../os/process/program.ts';

/** Fails inside a loop: an agent must not answer what it asked a person, or pass its words off as a person's. */
export function requirePerson(env: Environment): void {
  if (!isInsideLoop(env)) return;
  throw ownLoop('only a person can do this, from outside the loop that you work in', 'DECIDE: your question');
}

/** True if an agent started this process, in a run or in a session of Claude Code with a loop. */
export function isInsideLoop(env: Environment): boolean {
  if (isInsideRun(env)) return true;
  return inheritedValues(env, 'CLAUDE_CODE_SESSION_ID').some((session) => hasSessionLoop(env, session));
}

/** The error for an agent that wants to control its loop. */
export function ownLoop(message: string, promise = 'BLOCKED: why'): RalphError {
  return new RalphError('own-loop', message, {
    remedy: `finish the task, or write <promise>${promise}</promise>`,
  });
}
