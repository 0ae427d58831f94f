import type { Story, TaskList, TaskProblem } from './story.ts';

/** Finds dependencies on stories that do not exist, and cycles. */
export function dependencyProblems({ userStories }: TaskList): TaskProblem[] {
  const byId = new Map(userStories.map((story) => [story.id, story]));
  const unknown = userStories.flatMap(({ id, dependsOn }) =>
    dependsOn
      .filter((other) => !byId.has(other))
      .map((other) => ({
        rule: 'unknown dependency',
        text: `Story ${id} depends on ${other}, but there is no such story.`,
      })),
  );
  const cycles = findCycles(userStories, byId).map((cycle) => ({
    rule: 'dependency cycle',
    text: `Stories depend on each other in a circle: ${[...cycle, cycle[0]].join(' → ')}.`,
  }));
  return [...unknown, ...cycles];
}

/** Returns each cycle once, starting with its first story in the file. No recursion: lists may be long. */
function findCycles(stories: readonly Story[], byId: ReadonlyMap<string, Story>): string[][] {
  const finished = new Set<string>();
  const cycles: string[][] = [];
  for (const { id: start } of stories) {
    const path: string[] = [];
    const open: { id: string; rest: string[] }[] = [];
    const enter = (id: string): void => {
      path.push(id);
      open.push({ id, rest: [...(byId.get(id)?.dependsOn ?? [])].filter((other) => byId.has(other)) });
    };
    if (!finished.has(start)) enter(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.rest.shift();
      if (next === undefined) {
        finished.add(top.id);
        path.pop();
        open.pop();
      } else if (path.includes(next)) cycles.push(path.slice(path.indexOf(next)));
      else if (!finished.has(next)) enter(next);
    }
  }
  return cycles;
}
