import type { RunFigures } from '../../stats/figures.ts';
import { sumOf } from '../../stats/stats.ts';

export type Split = 'day' | 'agent' | 'model';

export type Group = ReturnType<typeof figuresOf>;

/** Groups runs by the day on which they began, or by their agent or model. */
export function groupRows(rows: readonly RunFigures[], split: Split): Group[] {
  const groups = new Map<string, RunFigures[]>();
  for (const row of rows) {
    const name = nameOf(row, split);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  const names = [...groups.keys()].sort();
  return names.map((name) => figuresOf(name, groups.get(name) ?? []));
}

function nameOf({ startedAt, agent, model }: RunFigures, split: Split): string {
  if (split === 'day') return startedAt === null ? 'not begun' : dayOf(startedAt);
  return (split === 'agent' ? agent : model) || 'not known';
}

/** The day where the reader is, as 2026-11-18. */
function dayOf(at: number): string {
  const date = new Date(at);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}

/** Figures of several runs; null where they are not known. */
export function figuresOf(name: string, rows: readonly RunFigures[]) {
  const ended = rows.filter(({ outcome }) => outcome !== null);
  const accepted = ended.filter(({ outcome }) => outcome === 'PROMISE_ACCEPTED').length;
  const tasks = sumOf(rows, ({ acceptedTasks }) => acceptedTasks);
  const costs = rows.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = costs.length === 0 ? null : sumOf(costs, (one) => one);
  return {
    name,
    runs: rows.length,
    tasks,
    /** Share of the ended runs that were accepted. */
    rate: ended.length === 0 ? null : accepted / ended.length,
    cost,
    costEach: cost === null || tasks === 0 ? null : cost / tasks,
    timeEach: tasks === 0 ? null : sumOf(rows, ({ elapsedMs }) => elapsedMs) / tasks,
  };
}

/** Adds up named counts over all runs, the largest first. */
export function reasonsOf(
  rows: readonly RunFigures[],
  counts: (row: RunFigures) => readonly (readonly [string, number])[],
): [string, number][] {
  const sums = new Map<string, number>();
  for (const [name, count] of rows.flatMap(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
  return [...sums].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
}
