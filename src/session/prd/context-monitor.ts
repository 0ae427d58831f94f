import { firedAlerts, keepAlerts } from '../../store/context-alerts.ts';
import type { SessionContext } from '../context.ts';
import { type Reply, silent } from '../reply.ts';
import { contextUse } from './context-use.ts';

type Severity = 'NOTICE' | 'WARNING' | 'CRITICAL';

const texts: Readonly<Record<Severity, string>> = {
  NOTICE:
    'Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up work, add new stories to tasks.json — the next iteration will pick them up.',
  WARNING:
    'Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next iteration has full context.',
  CRITICAL:
    'Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The next iteration will continue from where you left off.',
};

const thresholds: readonly (readonly [percent: number, severity: Severity])[] = [
  [50, 'NOTICE'],
  [60, 'NOTICE'],
  [70, 'WARNING'],
  [80, 'WARNING'],
  [90, 'CRITICAL'],
];

/** Tells an agent how full its context is: the highest threshold that it passed, each once in a session. */
export function watchContext(
  { sessionId, transcript }: { readonly sessionId: string; readonly transcript: string },
  { env }: Pick<SessionContext, 'env'>,
): Reply {
  const measure = contextUse(transcript, env);
  if (measure === null) return silent;
  const { use, size } = measure;
  const file = { path: transcript, size };
  const passed = thresholds.filter(([percent]) => use >= percent);
  const top = passed.at(-1);
  if (top === undefined) return silent;
  const fired = firedAlerts(env, sessionId, file);
  if (fired.includes(top[0])) return silent;
  const [percent, severity] = top;
  keepAlerts(env, sessionId, file, [...new Set([...fired, ...passed.map(([each]) => each)])]);
  const shown = Math.min(100, Math.round(use));
  return {
    kind: 'context',
    message: `[${severity}] Context usage is at about ${shown}% (past ${percent}%). ${texts[severity]}`,
  };
}
