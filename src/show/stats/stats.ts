import { addUsage, noUsage } from '../../core/turn.ts';
import {
  elapsedAt,
  type IterationView,
  type RunView,
  type TimeByKind,
  timeByKind,
} from '../../journal/run-view.ts';

type GuardrailStats = Readonly<Record<'passed' | 'failed' | 'ms', number>> & { readonly command: string };

export type Stats = ReturnType<typeof statsOf>;

/** Figures of runs, as `ralph stats --json` prints them; docs/watch.md says what each is. Times are milliseconds. */
export function statsOf(views: readonly RunView[], now: number) {
  const goes = views.flatMap(({ iterations }) => iterations);
  const usage = views.reduce((sum, view) => addUsage(sum, view.usage), noUsage);
  const acceptedTasks = sumOf(views, tasksOf);
  const elapsedMs = sumOf(views, (view) => elapsedAt(view, now));
  const rejected = goes.flatMap(({ verdict }) => (verdict?.accepted === false ? [verdict] : []));
  const reviewed = views.flatMap(reviewsOf);
  const stories = new Set(reviewed).size;
  return {
    v: 1,
    runs: views.length,
    /** Runs by outcome; `none` still go on, or were killed. */
    outcomes: countBy(views.map(({ outcome }) => outcome ?? 'none')),
    iterations: sumOf(views, ({ iteration }) => iteration),
    toolCalls: sumOf(goes, ({ toolCalls }) => toolCalls ?? 0),
    usage: usage.costUsd === undefined ? usage : { ...usage, costUsd: exact(usage.costUsd) },
    elapsedMs,
    acceptedTasks,
    /** All costs, those of failures included; null if nothing was accepted, or if costs are unknown. */
    costPerAcceptedTask:
      usage.costUsd === undefined || acceptedTasks === 0 ? null : exact(usage.costUsd / acceptedTasks),
    time: timeOf(goes, elapsedMs, now),
    claims: { accepted: sumOf(views, ({ claims }) => claims.accepted), rejected: rejected.length },
    /** The first check that failed of each rejected claim. */
    rejectedBy: countBy(rejected.map(({ evidence }) => evidence.find(({ ok }) => !ok)?.check ?? 'unknown')),
    reviews: {
      stories,
      reviews: reviewed.length,
      perStory: stories === 0 ? null : reviewed.length / stories,
    },
    guardrails: guardrailStats(goes),
    damaged: sumOf(views, ({ damaged }) => damaged),
    unknown: sumOf(views, ({ unknown }) => unknown),
  };
}

export function sumOf<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((sum, item) => sum + figure(item), 0);
}

/** Rounds away the tail of digits that sums of binary fractions have. */
function exact(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

function timeOf(goes: readonly IterationView[], elapsedMs: number, now: number): TimeByKind {
  const times = goes.map((one) => timeByKind(one, now));
  const agent = sumOf(times, (time) => time.agent);
  const checks = sumOf(times, (time) => time.checks);
  const review = sumOf(times, (time) => time.review);
  const waiting = sumOf(times, (time) => time.waiting);
  return {
    agent,
    checks,
    review,
    waiting,
    other: Math.max(0, elapsedMs - agent - checks - review - waiting),
  };
}

/** Counts the tasks of a run, without stories that were done before it began. */
function tasksOf({ outcome, stories, doneBefore }: RunView): number {
  if (doneBefore === null) return outcome === 'PROMISE_ACCEPTED' ? 1 : 0;
  return stories.filter(({ id, passes }) => passes && !doneBefore.includes(id)).length;
}

function reviewsOf({ cwd, iterations }: RunView): string[] {
  return iterations.flatMap(({ prd }) =>
    prd?.mode === 'review' && prd.story !== null ? [`${cwd} ${prd.story}`] : [],
  );
}

function guardrailStats(goes: readonly IterationView[]): GuardrailStats[] {
  const all = new Map<string, GuardrailStats>();
  for (const { command, ok, ms } of goes.flatMap(({ guardrails }) => guardrails)) {
    if (ok === null) continue;
    const before = all.get(command) ?? { command, passed: 0, failed: 0, ms: 0 };
    const passed = before.passed + (ok ? 1 : 0);
    const failed = before.failed + (ok ? 0 : 1);
    all.set(command, { command, passed, failed, ms: before.ms + (ms ?? 0) });
  }
  return [...all.values()];
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
