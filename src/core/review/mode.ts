import type { IterationMode, ReviewRules, ReviewStatus, Story, TaskList } from './story.ts';

/** Mode and story of the next iteration. */
export type NextStep = { readonly mode: IterationMode; readonly story: Story | null };

/** Picks the next step: fixes come before reviews, and reviews before new work. */
export function nextStep(tasks: TaskList, { skipReview }: Pick<ReviewRules, 'skipReview'>): NextStep {
  const rejected = skipReview ? null : firstWith(tasks, 'changes_requested');
  if (rejected) return { mode: 'review-fix', story: rejected };
  const waiting = skipReview ? null : firstWith(tasks, 'needs_review');
  if (waiting) return { mode: 'review', story: waiting };
  return { mode: 'implement', story: nextToImplement(tasks, skipReview) };
}

/** True if every story passes and, unless reviews are skipped, is approved. */
export function isComplete(
  { userStories }: TaskList,
  { skipReview }: Pick<ReviewRules, 'skipReview'>,
): boolean {
  if (userStories.length === 0) return false;
  return userStories.every(
    ({ passes, reviewStatus }) => passes && (skipReview || reviewStatus === 'approved'),
  );
}

export type TaskCounts = Readonly<ReturnType<typeof countTasks>>;

export function countTasks({ userStories }: TaskList) {
  const count = (fits: (story: Story) => boolean): number => userStories.filter(fits).length;
  return {
    total: userStories.length,
    done: count(({ passes }) => passes),
    needsReview: count(({ passes, reviewStatus }) => !passes && reviewStatus === 'needs_review'),
    changesRequested: count(({ passes, reviewStatus }) => !passes && reviewStatus === 'changes_requested'),
    open: count(
      ({ passes, reviewStatus }) => !passes && (reviewStatus === null || reviewStatus === 'approved'),
    ),
  };
}

/** Estimates the iterations for the open stories, with about one fix for each. */
export function estimateIterations(tasks: TaskList, { skipReview }: Pick<ReviewRules, 'skipReview'>): number {
  const openStories = tasks.userStories.filter(({ passes }) => !passes);
  if (skipReview) return openStories.length;
  const perStatus = { null: 3, changes_requested: 2, needs_review: 1, approved: 1 } as const;
  return openStories.reduce((sum, { reviewStatus }) => sum + perStatus[reviewStatus ?? 'null'], 0);
}

/** Sorts by priority, the smallest number first; equal ones stay in the order of the file. */
export function byPriority(stories: readonly Story[]): Story[] {
  return [...stories].sort((a, b) => a.priority - b.priority);
}

function firstWith({ userStories }: TaskList, status: ReviewStatus): Story | null {
  return byPriority(userStories).find(({ reviewStatus }) => reviewStatus === status) ?? null;
}

/** Returns the first story whose dependencies are done; if a cycle leaves none, the first open one. */
function nextToImplement({ userStories }: TaskList, skipReview: boolean): Story | null {
  const done = new Set(userStories.filter(({ passes }) => passes).map(({ id }) => id));
  const ids = new Set(userStories.map(({ id }) => id));
  const open = byPriority(userStories).filter(
    ({ passes, reviewStatus }) => !passes && (skipReview || reviewStatus === null),
  );
  const ready = open.find(({ dependsOn }) => dependsOn.every((id) => done.has(id) || !ids.has(id)));
  return ready ?? open[0] ?? null;
}
