/** Where a story stands between its first line of code and its approval. */
export type ReviewStatus = 'needs_review' | 'changes_requested' | 'approved';

/** What one iteration may do: the mode follows from the task list, never from the agent. */
export type IterationMode = 'implement' | 'review' | 'review-fix';

export const iterationModes: readonly IterationMode[] = ['implement', 'review', 'review-fix'];

/** The fields that say whether a story is done; only a review may raise them. */
export type ReviewFields = {
  readonly passes: boolean;
  readonly reviewStatus: ReviewStatus | null;
  readonly reviewCount: number;
};

/** A story as far as the loop reads it; people and agents may keep more in the file. */
export type Story = ReviewFields & {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly priority: number;
  readonly acceptanceCriteria: readonly unknown[];
  readonly reviewFeedback: string;
  readonly notes: string;
  readonly dependsOn: readonly string[];
};

export type TaskList = {
  readonly project: string;
  readonly branchName: string;
  readonly description: string;
  readonly verifyCommands: readonly string[];
  readonly userStories: readonly Story[];
};

/** The review fields of every story before an iteration, by id. */
export type Snapshot = Readonly<Record<string, ReviewFields>>;

/** How reviews are done in this run. */
export type ReviewRules = {
  /** No reviews: an implement iteration sets `passes` itself. */
  readonly skipReview: boolean;
  /** Reviews that a story gets before it is approved whatever they found. */
  readonly reviewCap: number;
};

export const defaultReviewRules: ReviewRules = { skipReview: false, reviewCap: 5 };

/** Marks an approval that came from the cap and not from the reviewer. */
export const capPrefix = '[AUTO-APPROVED AT CAP]';

/** Something wrong with a task list: `rule` in a few words, `text` in a sentence. */
export type TaskProblem = {
  readonly rule: string;
  readonly text: string;
  /** Something that had to be done and was not: there is nothing to undo. */
  readonly omission?: true;
};

/** Whether there is anything to read; signs that do not print are no text, nor are letters and symbols that are blank. */
export function hasText(text: string): boolean {
  return /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
}

export function snapshotOf({
  userStories,
}: {
  readonly userStories: readonly (ReviewFields & Pick<Story, 'id'>)[];
}): Snapshot {
  return Object.fromEntries(
    userStories.map(({ id, passes, reviewStatus, reviewCount }) => [
      id,
      { passes, reviewStatus, reviewCount },
    ]),
  );
}
