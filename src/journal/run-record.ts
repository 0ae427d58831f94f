import { nextCommand } from './next-command.ts';
import { doingNow, elapsedAt, isOpen, type RunView, titleOf } from './run-view.ts';

export type RunRecord = ReturnType<typeof recordOf>;

/** A run as `ralph show --json` prints it. Outcome and exit code are null while it runs, and if it was killed. */
export function recordOf(
  view: RunView,
  kind: 'run' | 'session' = 'run',
  standing: Parameters<typeof nextCommand>[1] = { asks: false, isLatest: true },
  now = view.updatedAt ?? 0,
) {
  const { run, state, outcome, exitCode, agent, usage, damaged, unknown } = view;
  const next = nextCommand(view, standing);
  return {
    run,
    /** A loop of `ralph run`, or one inside an agent's session. */
    kind,
    state,
    outcome,
    exitCode,
    // A run that waits says why.
    because: view.because ?? view.waitFor,
    /** Code of that reason, such as `auth`; null while the run goes on. */
    becauseCode: view.becauseCode,
    task: titleOf(view.task),
    /** What a live run does now; null for any other. */
    doing: isOpen(view) ? doingNow(view) : null,
    /** When a run that waits goes on; null for any other, and in a pause. */
    waitUntil: timeText(isOpen(view) ? view.waitUntil : null),
    /** The command to type next; null while the loop goes on, and for one inside a session. */
    next: kind === 'run' && (outcome !== null || state === 'abandoned') ? next : null,
    iterations: view.iteration,
    verdicts: view.iterations.flatMap(({ iteration, verdict }) =>
      verdict ? [{ iteration, ...verdict }] : [],
    ),
    /** Tool calls that the guard refused. */
    denials: view.iterations.flatMap(({ iteration, denials }) =>
      denials.map((denial) => ({ iteration, ...denial })),
    ),
    usage,
    agent,
    startedAt: timeText(view.startedAt),
    endedAt: timeText(view.endedAt),
    elapsedMs: elapsedAt(view, now),
    damaged,
    unknown,
  };
}

function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
