import type { Verdict } from '../core/loop.ts';
import { nextCommand } from './next-command.ts';
import type { IterationView, RunView } from './run-view.ts';

type InIteration<T> = T & { readonly iteration: number };

/** A run as `ralph show --json` prints it. Outcome and exit code are null while it runs, and if it was killed. */
export type RunRecord = Pick<
  RunView,
  | 'run'
  | 'state'
  | 'outcome'
  | 'exitCode'
  | 'because'
  | 'agent'
  | 'usage'
  | 'elapsedMs'
  | 'damaged'
  | 'unknown'
> & {
  /** A loop of `ralph run`, or one inside an agent's session. */
  readonly kind: 'run' | 'session';
  /** The command to type next; null while the loop goes on, and for one inside a session. */
  readonly next: string | null;
  readonly iterations: number;
  readonly verdicts: readonly InIteration<Verdict>[];
  /** Tool calls that the guard refused. */
  readonly denials: readonly InIteration<IterationView['denials'][number]>[];
  readonly startedAt: string | null;
  readonly endedAt: string | null;
};

export function recordOf(view: RunView, kind: RunRecord['kind'] = 'run', isLatest = true): RunRecord {
  const { run, state, outcome, exitCode, agent, usage, elapsedMs, damaged, unknown } = view;
  const next = nextCommand(view, { asks: isLatest && view.needs?.kind === 'answer', isLatest });
  return {
    run,
    kind,
    state,
    outcome,
    exitCode,
    // A run that waits says why.
    because: view.because ?? view.waitFor,
    next: kind === 'run' && (outcome !== null || state === 'abandoned') ? next : null,
    iterations: view.iteration,
    verdicts: view.iterations.flatMap(({ iteration, verdict }) =>
      verdict ? [{ iteration, ...verdict }] : [],
    ),
    denials: view.iterations.flatMap(({ iteration, denials }) =>
      denials.map((denial) => ({ iteration, ...denial })),
    ),
    usage,
    agent,
    startedAt: timeText(view.startedAt),
    endedAt: timeText(view.endedAt),
    elapsedMs,
    damaged,
    unknown,
  };
}

function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
