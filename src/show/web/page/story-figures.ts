import { type RunView, timeByKind } from '../../../journal/run-view.ts';

export type StoryFigures = {
  readonly count: number;
  readonly ms: number;
  /** Null if no iteration reported a cost. */
  readonly costUsd: number | null;
};

export function figuresByStory({ iterations }: RunView, now: number): Map<string, StoryFigures> {
  const figures = new Map<string, StoryFigures>();
  for (const one of iterations) {
    const id = one.prd?.story;
    if (!id) continue;
    const { count, ms, costUsd } = figures.get(id) ?? { count: 0, ms: 0, costUsd: null };
    const { agent, review, checks, other } = timeByKind(one, now);
    const cost = one.usage?.costUsd;
    figures.set(id, {
      count: count + 1,
      ms: ms + agent + review + checks + other,
      costUsd: cost === undefined ? costUsd : (costUsd ?? 0) + cost,
    });
  }
  return figures;
}

/** Estimates what is left from what the stories took that this run finished; null without one, or if none is left. */
export function estimateLeft({ stories }: RunView, figures: ReadonlyMap<string, StoryFigures>) {
  const finished = stories.flatMap(({ id, passes }) => (passes ? (figures.get(id) ?? []) : []));
  const open = stories.filter(({ passes }) => !passes);
  if (finished.length === 0 || open.length === 0) return null;
  const costs = finished.flatMap(({ costUsd }) => costUsd ?? []);
  const each = average(finished.map(({ ms }) => ms));
  const costEach = costs.length === 0 ? null : average(costs);
  // A story that was begun has had a part of it already.
  const left = (whole: number, spent: (story: StoryFigures) => number) =>
    open.reduce((sum, { id }) => {
      const begun = figures.get(id);
      return sum + Math.max(0, whole - (begun === undefined ? 0 : spent(begun)));
    }, 0);
  return {
    ms: left(each, ({ ms }) => ms),
    costUsd: costEach === null ? null : left(costEach, ({ costUsd }) => costUsd ?? 0),
    by: finished.length,
  };
}

function average(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0) / Math.max(1, amounts.length);
}

/** The column of each story in the drawing: one right of the last story that it waits for. */
export function depthsOf(
  stories: readonly { readonly id: string; readonly dependsOn: readonly string[] }[],
): Map<string, number> {
  const byId = new Map(stories.map((story) => [story.id, story]));
  const depths = new Map<string, number>();
  function depthOf(id: string): number {
    const known = depths.get(id);
    if (known !== undefined) return known;
    // Ends a circle, which a task list should not have.
    depths.set(id, 0);
    const needs = byId.get(id)?.dependsOn.filter((other) => byId.has(other)) ?? [];
    const depth = Math.max(0, ...needs.map((other) => depthOf(other) + 1));
    depths.set(id, depth);
    return depth;
  }
  for (const { id } of stories) depthOf(id);
  return depths;
}
