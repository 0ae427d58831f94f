import { addUsage, noUsage, type Usage } from '../core/turn.ts';
import type { JournalEvent } from '../store/events.ts';
import { type RunView, type TimeByKind, timeByKind } from '../store/run-view.ts';

/** A run with its journal. */
export type RunHistory = {
  readonly view: RunView;
  readonly events: readonly JournalEvent[];
  /** Where nobody drives it any more: its last sign of life, up to which an open wait counts. */
  readonly until?: number;
};

export type GuardrailStats = {
  readonly command: string;
  readonly passed: number;
  readonly failed: number;
  readonly ms: number;
};

/** What some runs came to, as `ralph stats --json` prints it. Times are milliseconds. */
export type Stats = {
  readonly v: 1;
  readonly runs: number;
  /** How many runs ended in which way; `none` still go on, or were killed. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly iterations: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** A run whose claim was accepted; in a run of a PRD, each story that it got done. */
  readonly acceptedTasks: number;
  /** All that was spent, failures included, for each of them; null where nothing was accepted or no cost was told. */
  readonly costPerAcceptedTask: number | null;
  readonly time: TimeByKind;
  readonly claims: { readonly accepted: number; readonly rejected: number };
  /** The first check that failed of each rejected claim. */
  readonly rejectedBy: Readonly<Record<string, number>>;
  readonly reviews: { readonly stories: number; readonly reviews: number; readonly perStory: number | null };
  readonly guardrails: readonly GuardrailStats[];
};

export function statsOf(histories: readonly RunHistory[], now: number): Stats {
  const goes = histories.flatMap(({ view }) => view.iterations);
  const usage = histories.reduce((sum, { view }) => addUsage(sum, view.usage), noUsage);
  const acceptedTasks = histories.reduce((sum, history) => sum + tasksOf(history), 0);
  const rejected = goes.flatMap(({ verdict }) => (verdict?.accepted === false ? [verdict] : []));
  const reviewed = histories.flatMap(reviewsOf);
  const stories = new Set(reviewed).size;
  return {
    v: 1,
    runs: histories.length,
    outcomes: countBy(histories.map(({ view }) => view.outcome ?? 'none')),
    iterations: goes.length,
    toolCalls: goes.reduce((sum, { toolCalls }) => sum + (toolCalls ?? 0), 0),
    usage: usage.costUsd === undefined ? usage : { ...usage, costUsd: exact(usage.costUsd) },
    acceptedTasks,
    costPerAcceptedTask:
      usage.costUsd === undefined || acceptedTasks === 0 ? null : exact(usage.costUsd / acceptedTasks),
    time: histories
      .flatMap(({ view, until = now }) => view.iterations.map((one) => timeByKind(one, until)))
      .reduce(addTimes, noTime),
    claims: {
      accepted: histories.reduce((sum, { view }) => sum + view.claims.accepted, 0),
      rejected: rejected.length,
    },
    rejectedBy: countBy(rejected.map(({ evidence }) => evidence.find(({ ok }) => !ok)?.check ?? 'unknown')),
    reviews: {
      stories,
      reviews: reviewed.length,
      perStory: stories === 0 ? null : reviewed.length / stories,
    },
    guardrails: guardrailStats(histories),
  };
}

/** Sums of cents as binary fractions have a tail of digits that nobody spent. */
function exact(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

const noTime: TimeByKind = { agent: 0, checks: 0, review: 0, waiting: 0, other: 0 };

function addTimes(a: TimeByKind, b: TimeByKind): TimeByKind {
  return {
    agent: a.agent + b.agent,
    checks: a.checks + b.checks,
    review: a.review + b.review,
    waiting: a.waiting + b.waiting,
    other: a.other + b.other,
  };
}

/** Stories that were done before the run began are not its own. */
function tasksOf({ view, events }: RunHistory): number {
  const lists = events.flatMap((event) =>
    event.type === 'prd.iteration' || event.type === 'prd.checked' ? [event.stories] : [],
  );
  const [first] = lists;
  const last = lists.at(-1);
  if (first === undefined || last === undefined) return view.outcome === 'PROMISE_ACCEPTED' ? 1 : 0;
  const before = new Set(first.flatMap(({ id, passes }) => (passes ? [id] : [])));
  return last.filter(({ id, passes }) => passes && !before.has(id)).length;
}

/** The story of each review. */
function reviewsOf({ view, events }: RunHistory): string[] {
  return events.flatMap((event) =>
    event.type === 'prd.iteration' && event.mode === 'review' && event.story !== null
      ? [`${view.cwd} ${event.story}`]
      : [],
  );
}

function guardrailStats(histories: readonly RunHistory[]): GuardrailStats[] {
  const all = new Map<string, GuardrailStats>();
  for (const { events } of histories) {
    for (const event of events) {
      if (event.type !== 'guardrail.ended') continue;
      const { command, ok, ms } = event;
      const known = all.get(command) ?? { command, passed: 0, failed: 0, ms: 0 };
      all.set(command, {
        command,
        passed: known.passed + (ok ? 1 : 0),
        failed: known.failed + (ok ? 0 : 1),
        ms: known.ms + ms,
      });
    }
  }
  return [...all.values()];
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
