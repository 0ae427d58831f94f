import { appendEvents } from '../../store/journal-append.ts';
import { type Denial, postDenial } from '../../store/mailbox.ts';
import { noteInSession } from '../../store/session-loops.ts';
import { createRedactor } from '../redact.ts';
import type { Environment } from './model.ts';
import { shorten } from './shorten.ts';

/** Keeps a refusal in the record of the session's loop, or leaves word for the run that started the agent. */
export function keepDenial(denial: Denial, sessionId: string, env: Environment, now: () => number): void {
  const redactor = createRedactor(env);
  const { tool, category } = denial;
  // Cut only after the secrets are out of it: the half of one is not known for a secret.
  const clean = {
    tool,
    category,
    what: shorten(redactor.text(denial.what), 300),
    reason: shorten(redactor.text(denial.reason), 600),
  };
  const inSession = noteInSession(env, sessionId, (journal, { loop: { iteration } }) =>
    appendEvents(journal, [{ type: 'guard.denied', iteration, ...clean }], now),
  );
  if (!inSession && env.RALPH_RUN_ID) postDenial(env, env.RALPH_RUN_ID, clean, now());
}
