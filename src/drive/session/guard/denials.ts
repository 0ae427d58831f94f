import type { Environment } from '../../../os/process/program.ts';
import { createRedactor } from '../../../os/redact/redact.ts';
import { type Denial, postDenial } from '../../mailbox.ts';
import { noteInSession } from '../session-loops.ts';
import { shorten } from './shorten.ts';

/** Records a denial in the journal of the session's loop, or posts it to the run that started the agent. */
export function keepDenial(denial: Denial, sessionId: string, env: Environment, now: () => number): void {
  const redactor = createRedactor(env);
  const { tool, category } = denial;
  // Redacts before it shortens: half a secret is not recognised as one.
  const clean = {
    tool,
    category,
    what: shorten(redactor.text(denial.what), 300),
    reason: shorten(redactor.text(denial.reason), 600),
  };
  const inSession = noteInSession({ env, now }, sessionId, ({ loop: { iteration } }) => [
    { type: 'guard.denied', iteration, ...clean },
  ]);
  if (!inSession && env.RALPH_RUN_ID) postDenial(env, env.RALPH_RUN_ID, clean, now());
}
