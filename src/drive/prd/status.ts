import { relative } from 'node:path';
import { dependencyProblems } from '../../core/review/dependencies.ts';
import {
  byPriority,
  countTasks,
  estimateIterations,
  isComplete,
  nextStep,
  type TaskCounts,
} from '../../core/review/mode.ts';
import type { IterationMode, ReviewRules, ReviewStatus, TaskList } from '../../core/review/story.ts';
import { listRuns, readRun } from '../../journal/runs.ts';
import { approvedOutside, type PrdMemory } from './memory.ts';
import { activeOwner, readActive } from './ralph-active.ts';
import { stateOf } from './summary.ts';
import type { PrdPlace } from './tasks.ts';

export type BoardRow = {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  /** Mode of its next iteration; null if it is done. */
  readonly mode: IterationMode | null;
  readonly passes: boolean;
  readonly reviewStatus: ReviewStatus | null;
  readonly reviewCount: number;
  readonly reviewFeedback: string;
  /** It is approved, but no review of a loop did it. */
  readonly approvedOutside: boolean;
  readonly dependsOn: readonly string[];
  /** The stories that it still waits for. */
  readonly waitsFor: readonly string[];
};

/** Status of a PRD, as `ralph prd status --json` prints it. */
export type PrdStatus = {
  readonly project: string;
  readonly branchName: string;
  readonly complete: boolean;
  readonly counts: TaskCounts;
  readonly next: { readonly mode: IterationMode; readonly story: string | null };
  readonly estimatedIterations: number;
  /** The process that works on it, if one does. */
  readonly running: number | null;
  readonly stories: readonly BoardRow[];
  /** Stories that were left after each iteration, oldest first. */
  readonly burnDown: readonly { readonly run: string; readonly iteration: number; readonly left: number }[];
  readonly problems: readonly string[];
};

export function prdStatus(
  { projectDir, paths }: PrdPlace,
  tasks: TaskList,
  rules: ReviewRules,
  memory: PrdMemory | null,
): PrdStatus {
  const marker = readActive(projectDir);
  const { mode, story } = nextStep(tasks, rules);
  const running = marker && activeOwner(marker);
  return {
    project: tasks.project,
    branchName: tasks.branchName,
    complete: isComplete(tasks, rules),
    counts: countTasks(tasks),
    next: { mode, story: story?.id ?? null },
    estimatedIterations: estimateIterations(tasks, rules),
    running,
    stories: boardOf(tasks, rules.skipReview ? [] : approvedOutside(memory, tasks)),
    burnDown: memory === null ? [] : burnDown({ projectDir, paths }, memory),
    problems: dependencyProblems(tasks).map(({ text }) => text),
  };
}

function boardOf(tasks: TaskList, outside: readonly string[]): BoardRow[] {
  const open = new Set(tasks.userStories.filter(({ passes }) => !passes).map(({ id }) => id));
  return byPriority(tasks.userStories).map((story) => {
    const { id, title, passes, reviewStatus, reviewCount, reviewFeedback, dependsOn } = story;
    return {
      id,
      title,
      state: stateOf(story),
      mode: passes ? null : modeOf(reviewStatus),
      passes,
      reviewStatus,
      reviewCount,
      reviewFeedback,
      approvedOutside: outside.includes(id),
      dependsOn,
      waitsFor: passes ? [] : dependsOn.filter((other) => open.has(other)),
    };
  });
}

function modeOf(status: ReviewStatus | null): IterationMode {
  if (status === 'changes_requested') return 'review-fix';
  return status === 'needs_review' ? 'review' : 'implement';
}

/** Returns the stories left after each iteration of the runs on this list; an archived list in the same place had its own runs. */
function burnDown({ projectDir, paths }: PrdPlace, { since = 0 }: PrdMemory): PrdStatus['burnDown'] {
  const tasks = relative(projectDir, paths.tasks);
  return listRuns(projectDir).flatMap((run) => {
    const { view } = readRun(projectDir, run);
    if (view.tasks !== tasks || (view.startedAt ?? 0) < since) return [];
    return view.iterations.flatMap(({ iteration, prd }) =>
      prd?.after ? [{ run, iteration, left: prd.after.total - prd.after.done }] : [],
    );
  });
}
