import type { Verdict } from '../core/loop.ts';
import { nextCommand } from './next-command.ts';
import { type IterationView, isOpen, type RunView } from './run-view.ts';

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
  /** The first line of its task. */
  readonly task: string;
  /** What a live run does now; null for any other. */
  readonly doing: string | null;
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
    task: titleOf(view.task),
    doing: isOpen(view) ? doingNow(view) : null,
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

/** Returns the first line of a task that says something, without the marks of a heading. */
export function titleOf(task: string): string {
  const line = task.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 200);
}

/** Says what a loop that runs does now. */
export function doingNow({ iterations, tool, waitFor }: RunView): string {
  if (waitFor !== null) return waitFor;
  if (tool !== null) return `${tool.name} ${tool.summary}`.trim();
  const last = iterations.at(-1);
  const check = last?.guardrails.find(({ ok }) => ok === null);
  if (check) return `checks: ${check.command}`;
  return last?.agentMs === null ? 'the agent is thinking' : 'between two iterations';
}
