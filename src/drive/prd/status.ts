import { relative } from 'node:path';
import { dependencyProblems } from '../../core/review/dependencies.ts';
import { byPriority, countTasks, estimateIterations, isComplete, nextStep } from '../../core/review/mode.ts';
import type { ReviewRules, TaskList } from '../../core/review/story.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { approvedOutside, type PrdMemory } from './memory.ts';
import { activeOwner, readActive } from './ralph-active.ts';
import { stateOf } from './summary.ts';
import type { PrdPlace } from './tasks.ts';

export type BoardRow = ReturnType<typeof boardOf>[number];

export type PrdStatus = ReturnType<typeof prdStatus>;

/** Returns the status of a PRD, as `ralph prd status --json` prints it. */
export function prdStatus(place: PrdPlace, tasks: TaskList, rules: ReviewRules, memory: PrdMemory | null) {
  const marker = readActive(place.projectDir);
  const { mode, story } = nextStep(tasks, rules);
  return {
    project: tasks.project,
    branchName: tasks.branchName,
    complete: isComplete(tasks, rules),
    counts: countTasks(tasks),
    next: { mode, story: story?.id ?? null },
    estimatedIterations: estimateIterations(tasks, rules),
    running: marker && activeOwner(marker),
    stories: boardOf(tasks, rules.skipReview ? [] : approvedOutside(memory, tasks)),
    burnDown: memory === null ? [] : burnDown(place, memory),
    problems: dependencyProblems(tasks).map(({ text }) => text),
  };
}

function boardOf(tasks: TaskList, outside: readonly string[]) {
  const open = new Set(tasks.userStories.filter(({ passes }) => !passes).map(({ id }) => id));
  return byPriority(tasks.userStories).map((story) => {
    const { id, title, passes, reviewStatus, reviewCount, reviewFeedback, dependsOn } = story;
    const { mode } = nextStep({ ...tasks, userStories: [story] }, { skipReview: false });
    return {
      id,
      title,
      state: stateOf(story),
      /** Mode of its next iteration; null if it is done. */
      mode: passes ? null : mode,
      passes,
      reviewStatus,
      reviewCount,
      reviewFeedback,
      /** True if it is approved, but by no review of a loop. */
      approvedOutside: outside.includes(id),
      dependsOn,
      waitsFor: passes ? [] : dependsOn.filter((other) => open.has(other)),
    };
  });
}

/** Returns the stories left after each iteration, oldest first. Runs on an archived list in the same place do not count. */
function burnDown({ projectDir, paths }: PrdPlace, { since = 0 }: PrdMemory) {
  const tasks = relative(projectDir, paths.tasks);
  return listRuns(projectDir).flatMap((run) => {
    const { view } = readRun(projectDir, run);
    if (view.tasks !== tasks || (view.startedAt ?? 0) < since) return [];
    return view.iterations.flatMap(({ iteration, prd }) =>
      prd?.after ? [{ run, iteration, left: prd.after.total - prd.after.done }] : [],
    );
  });
}
