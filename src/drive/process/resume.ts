import type { CliSetting } from '../../config/settings.ts';
import { spentByRun } from '../../core/budget.ts';
import { newLoop } from '../../core/decide.ts';
import { RalphError } from '../../core/error.ts';
import type { LoopPlan, LoopState } from '../../core/loop.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { raiseBudget } from '../../journal/next-command.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { checkName } from './guardrails.ts';
import type { PromptSource } from './run-spec.ts';

/** State of a run that can be continued. */
export type Resumable = ReturnType<typeof resumable>;

/** Outcomes that end a run in the middle of an iteration, which is run again. */
const cutShort = new Set<Outcome>(['INTERRUPTED', 'CANCELLED', 'USAGE_LIMIT', 'AGENT_FAILED']);

const zeroCounts = { failures: 0, overloads: 0, withoutProgress: 0, withoutTools: 0, sameError: 0 };

/**
 * Reads a run from its journal. `loop` returns its state under a new plan: somebody may have raised the limits. A person who
 * resumes a run gives it another chance; a supervisor only goes on with it (`counting`), and so do its counts. It may also
 * know the number of the iteration.
 */
export function resumable(cwd: string, run: string) {
  const { view, events, started, decided } = readRun(cwd, run);
  if (!started) throw unusable(run, 'its journal does not tell how it started');
  if (started.plan.completion.tasks !== undefined) throw unusable(run, 'it works on a PRD', 'ralph prd run');
  if (view.outcome === 'PROMISE_ACCEPTED') throw unusable(run, 'it is done');
  if (started.promptFile === undefined && started.task.includes('[redacted:')) {
    throw unusable(run, 'its task held a secret, which is not kept');
  }
  const cli: CliSetting[] = [
    ...started.cli,
    ...events.flatMap((event) => (event.type === 'run.resumed' ? event.cli : [])),
  ];
  const words = events.flatMap((event) =>
    event.type === 'note' && event.seq > (decided?.seq ?? 0) ? [event.text] : [],
  );
  const { promptFile: file } = started;
  const prompt: PromptSource = file === undefined ? { text: started.task } : { file };
  return {
    run,
    view,
    prompt,
    cli,
    /** Notes of humans for the iteration that was cut short. */
    words,
    /** Guardrails that passed the last time they ran. */
    passed: passedIn(events),
    loop(plan: LoopPlan, { counting, number }: { counting: boolean; number?: number }): LoopState {
      if (!decided) return { ...newLoop(plan, started.task, number), usage: view.usage };
      const again =
        decided.kind !== 'stop' || (decided.outcome !== undefined && cutShort.has(decided.outcome));
      const iteration = number ?? decided.loop.iteration + (again ? 0 : 1);
      const limit = plan.limits.iterations;
      if (limit !== null && iteration > limit) {
        throw unusable(
          run,
          `its ${limit} iterations are used up`,
          `ralph run --resume ${run} -m ${limit * 2}`,
        );
      }
      const counts = counting && decided.kind !== 'stop' ? {} : zeroCounts;
      const loop = {
        ...decided.loop,
        ...counts,
        // With what an iteration spent that was cut short.
        usage: view.usage,
        waitedMs: counting ? decided.loop.waitedMs : 0,
        plan,
        task: started.task,
        iteration,
        outcome: null,
      };
      // A supervised run is only going on: its time may run out in a wait, and the next turn is judged as any other.
      const spent = spentByRun(loop);
      const isForgiven = counting && spent?.code === 'budget-time';
      if (spent && !isForgiven)
        throw unusable(run, spent.text, `ralph run --resume ${run} ${raiseBudget(plan.limits, loop)}`);
      return loop;
    },
  };
}

function passedIn(events: readonly JournalEvent[]): string[] {
  const results = events.flatMap((event) =>
    event.type === 'guardrail.ended' ? [[checkName(event.command), event.ok] as const] : [],
  );
  return [...new Map(results)].flatMap(([name, ok]) => (ok ? [name] : []));
}

/** The run that `--resume` means without a name: the latest that is not done. */
export function latestUnfinished(cwd: string): string {
  const runs = listRuns(cwd);
  const run = runs.findLast((id) => readRun(cwd, id).view.outcome !== 'PROMISE_ACCEPTED') ?? runs.at(-1);
  if (run === undefined)
    throw new RalphError('no-run', 'there is no run here to resume', { remedy: 'ralph run -p "your task"' });
  return run;
}

function unusable(run: string, why: string, remedy = 'ralph run -p "your task"'): RalphError {
  return new RalphError('not-resumable', `run ${run} cannot be resumed: ${why}`, { remedy });
}
