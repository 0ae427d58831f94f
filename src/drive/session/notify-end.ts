import { basename } from 'node:path';
import type { Reason } from '../../core/loop.ts';
import { noticeKindOf } from '../../core/notice.ts';
import { type Outcome, outcomes } from '../../core/outcome.ts';
import type { EventBody } from '../../journal/events.ts';
import { appendEvents } from '../../journal/journal-append.ts';
import { notifyEnd } from '../notify-end.ts';
import type { SessionContext } from './hook-reply.ts';
import type { SessionLoop } from './session-loops.ts';
import { recordPaths } from './session-paths.ts';
import { userEnvironment } from './user-environment.ts';

/** Tells a person that a loop inside a session is over, and the journal how that went. Never rejects. */
export async function notifySessionEnd(
  { run, cwd, loop }: SessionLoop,
  outcome: Outcome,
  because: Reason,
  { env, now, version }: SessionContext,
): Promise<void> {
  const kind = noticeKindOf(outcome);
  if (kind === null) return;
  const { exitCode } = outcomes[outcome];
  const facts = { kind, outcome, exitCode, run, project: basename(cwd), iterations: loop.iteration };
  const at = new Date(now()).toISOString();
  const { deliveries, problem } = await notifyEnd(
    { ...facts, at, because: because.text, next: `ralph show ${run}` },
    { cwd, env: userEnvironment(env), version },
  );
  const events: EventBody[] = [
    ...deliveries.map((delivery) => ({ type: 'notified', kind, ...delivery }) as const),
    ...(problem === undefined ? [] : [{ type: 'notice', text: `nothing was notified: ${problem}` } as const]),
  ];
  if (events.length === 0) return;
  try {
    appendEvents(recordPaths(env, run).journal, events, now);
  } catch {
    // A full disk: the loop is over all the same.
  }
}
