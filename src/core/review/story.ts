import * as v from 'valibot';
import { isObject } from '../json.ts';

/** Review status of a story, from its submission to its approval. */
export const reviewStatusSchema = v.nullable(
  v.picklist(
    ['needs_review', 'changes_requested', 'approved'],
    'null, "needs_review", "changes_requested" or "approved"',
  ),
);

export type ReviewStatus = NonNullable<v.InferOutput<typeof reviewStatusSchema>>;

/** Mode of an iteration; it follows from the task list, never from the agent. */
export type IterationMode = (typeof iterationModes)[number];

export const iterationModes = ['implement', 'review', 'review-fix'] as const;

// The message of a schema says what is expected; read-tasks.ts makes a sentence of it.
const text = v.string('a text');
const textsWords = 'a list of texts';
const texts = v.array(v.string(textsWords), textsWords);

const storySchema = v.object({
  id: v.message(v.pipe(v.string(), v.check(hasText)), 'a text that is not empty'),
  title: text,
  passes: v.boolean('true or false'),
  priority: v.message(v.pipe(v.number(), v.finite()), 'a number'),
  acceptanceCriteria: v.message(
    v.pipe(
      v.array(v.unknown()),
      v.check((criteria) => criteria.some(saysSomething)),
    ),
    'a list with at least one criterion that says something',
  ),
  reviewStatus: reviewStatusSchema,
  reviewCount: v.message(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 'a non-negative integer'),
  reviewFeedback: text,
  notes: v.nullish(text, ''),
  description: v.nullish(text, ''),
  dependsOn: v.nullish(texts, []),
});

/** Fields of a task list that the loop reads; the file may have more. */
export const taskListSchema = v.pipe(
  v.custom<object>(isObject, 'an object'),
  v.object({
    project: text,
    branchName: text,
    description: text,
    userStories: v.array(
      v.pipe(
        v.custom<object>(isObject, 'an object'),
        storySchema,
        v.partialCheck(
          [['passes'], ['notes']],
          ({ passes, notes }) => !passes || hasText(notes),
          'passes is true, but notes is empty: say there what was done',
        ),
      ),
      'a list of stories',
    ),
    verifyCommands: v.nullish(texts, []),
  }),
);

export type TaskList = Readonly<v.InferOutput<typeof taskListSchema>>;
export type Story = Readonly<v.InferOutput<typeof storySchema>>;

/** The fields that say whether a story is done; only a review may raise them. */
export type ReviewFields = Pick<Story, 'passes' | 'reviewStatus' | 'reviewCount'>;

/** The review fields of every story before an iteration, by id. */
export type Snapshot = Readonly<Record<string, ReviewFields>>;

/** Review settings of this run. */
export type ReviewRules = {
  /** No reviews: an implement iteration sets `passes` itself. */
  readonly skipReview: boolean;
  /** Number of reviews after which a story is approved whatever they found. */
  readonly reviewCap: number;
};

export const defaultReviewRules: ReviewRules = { skipReview: false, reviewCap: 5 };

/** Marks an approval that came from the cap and not from the reviewer. */
export const capPrefix = '[AUTO-APPROVED AT CAP]';

/** Problem of a task list: `rule` in a few words, `text` in a sentence. */
export type TaskProblem = {
  readonly rule: string;
  readonly text: string;
  /** A required change is missing, so that there is nothing to undo. */
  readonly omission?: true;
};

/** True if the text has a visible character. Some letters and symbols of Unicode are blank. */
export function hasText(text: string): boolean {
  return /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
}

/** True for a text with content, or an object that holds one. */
function saysSomething(criterion: unknown): boolean {
  const values: unknown[] = isObject(criterion) ? Object.values(criterion) : [criterion];
  return values.some((value) => typeof value === 'string' && hasText(value));
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
