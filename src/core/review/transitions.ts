import {
  capPrefix,
  hasText,
  type IterationMode,
  type ReviewFields,
  type ReviewRules,
  type Snapshot,
  type Story,
  type TaskList,
  type TaskProblem,
} from './story.ts';

/** A story before and after the iteration. */
type Pair = { readonly id: string; readonly before: ReviewFields; readonly after: Story };
type Field = keyof ReviewFields;
type Explain = (id: string, field: string, before: string, after: string) => string;

/** Message about an illegal step, by mode. */
const explain: Readonly<Record<IterationMode, Explain>> = {
  implement: (id, field, before, after) =>
    `Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story ${id} had illegal transition: ${field} ${before} → ${after}.`,
  review: (id, field, before, after) =>
    `Review iteration made illegal transition on story ${id}: ${field} ${before} → ${after}.`,
  'review-fix': (id, field, before, after) =>
    `Review-fix iterations cannot approve stories. Story ${id} must go back to needs_review for re-review. Illegal transition: ${field} ${before} → ${after}.`,
};

const pristine: ReviewFields = { passes: false, reviewStatus: null, reviewCount: 0 };
const fields: readonly Field[] = ['passes', 'reviewStatus', 'reviewCount'];

/** Check 2.5: compares the list with the snapshot from before the iteration; only what its mode allows may change. */
export function checkTransitions(
  { userStories }: TaskList,
  snapshot: Snapshot,
  mode: IterationMode,
  rules: ReviewRules,
): TaskProblem[] {
  const now = new Map(userStories.map((story) => [story.id, story]));
  const pairs = Object.entries(snapshot).flatMap(([id, before]) => {
    const after = now.get(id);
    return after === undefined ? [] : [{ id, before, after }];
  });
  const changes = pairs.filter((pair) => fields.some((field) => isChanged(pair, field)));
  return [
    ...removed(snapshot, userStories, mode),
    ...badNewcomers(snapshot, userStories, mode),
    ...(mode === 'review' ? reviewProblems(pairs, changes, rules) : writingProblems(mode, changes)),
  ];
}

/** Statuses in the order that a story goes through. A person may set it back; only iterations advance it. */
const order: readonly ReviewFields['reviewStatus'][] = [
  null,
  'changes_requested',
  'needs_review',
  'approved',
];

/**
 * Checks the list between two iterations, when no agent is at work: a person may edit it, but outside of an iteration
 * no story advances, no review is counted and no story is removed.
 */
export function checkBetween({ userStories }: TaskList, snapshot: Snapshot): TaskProblem[] {
  const advances = userStories.filter((story) => {
    const before = Object.hasOwn(snapshot, story.id) ? snapshot[story.id] : undefined;
    if (before === undefined) return false;
    const isAhead = order.indexOf(story.reviewStatus) > order.indexOf(before.reviewStatus);
    return isAhead || (story.passes && !before.passes) || story.reviewCount !== before.reviewCount;
  });
  return [
    ...removed(snapshot, userStories, 'implement'),
    ...badNewcomers(snapshot, userStories, 'implement'),
    ...advances.map(({ id }) => ({
      rule: 'brought on between iterations',
      text: `Story ${id} got on, or got another reviewCount, while no iteration was running.`,
    })),
  ];
}

/** Reports stories of the snapshot that are missing: deleting or renaming one does not finish it. */
export function removed(snapshot: Snapshot, stories: readonly Story[], mode: IterationMode): TaskProblem[] {
  const ids = new Set(stories.map(({ id }) => id));
  return Object.keys(snapshot)
    .filter((id) => !ids.has(id))
    .map((id) => ({
      rule: 'stories may not be removed or renamed',
      text: `Story ${id} was there before this iteration (${mode}) and is gone. Put it back with its id; narrow it and add others where it is too much.`,
    }));
}

function badNewcomers(snapshot: Snapshot, stories: readonly Story[], mode: IterationMode): TaskProblem[] {
  const newcomers = stories.filter(({ id }) => !Object.hasOwn(snapshot, id));
  return newcomers.flatMap((story) =>
    fields
      .filter((field) => story[field] !== pristine[field])
      .map((field) => ({
        rule: 'new stories must start incomplete',
        text: explain[mode](story.id, field, `${show(pristine[field])} (new story)`, show(story[field])),
      })),
  );
}

/** Rules of the two modes that write code. */
const writing = {
  implement: {
    from: null,
    passes: 'implement iterations cannot set passes=true',
    approve: 'implement iterations cannot approve',
    status: 'implement iterations may only submit a story for review',
    count: 'implement iterations cannot increment reviewCount',
    one: 'one story per iteration',
  },
  'review-fix': {
    from: 'changes_requested',
    passes: 'review-fix cannot approve',
    approve: 'review-fix cannot approve',
    status: 'review-fix may only send a story back to review',
    count: 'review-fix cannot increment reviewCount',
    one: 'review-fix may only modify one story',
  },
} as const;

/** An iteration that writes code submits at most one story for review, and changes nothing else. */
function writingProblems(mode: keyof typeof writing, changes: readonly Pair[]): TaskProblem[] {
  const rules = writing[mode];
  const submissions = changes.filter(
    ({ before, after }) => before.reviewStatus === rules.from && after.reviewStatus === 'needs_review',
  );
  const [first, ...others] = submissions;
  return [
    ...changes.flatMap((pair) => {
      const status = pair.after.reviewStatus === 'approved' ? rules.approve : rules.status;
      return [
        ...illegal(mode, pair, 'passes', rules.passes),
        ...(submissions.includes(pair) ? [] : illegal(mode, pair, 'reviewStatus', status)),
        ...illegal(mode, pair, 'reviewCount', rules.count),
      ];
    }),
    ...others.map((pair) => step(mode, pair, 'reviewStatus', rules.one)),
    ...(mode === 'review-fix' && first ? feedbackLeft(first) : []),
  ];
}

function feedbackLeft({ id, after }: Pair): TaskProblem[] {
  if (!hasText(after.reviewFeedback)) return [];
  const text = explain['review-fix'](id, 'reviewFeedback', 'set', 'still set, but has to be cleared');
  return [{ rule: 'review-fix must clear reviewFeedback', text }];
}

function reviewProblems(
  pairs: readonly Pair[],
  changes: readonly Pair[],
  { reviewCap }: ReviewRules,
): TaskProblem[] {
  const review = changes.find(({ before }) => before.reviewStatus === 'needs_review') ?? changes[0];
  if (review === undefined) return reviewMissing(pairs);
  const others = changes.filter((pair) => pair !== review);
  return [
    ...verdictProblems(review, reviewCap),
    ...others.flatMap((pair) =>
      fields
        .filter((field) => isChanged(pair, field))
        .map((field) => step('review', pair, field, 'review may only modify one story')),
    ),
  ];
}

function verdictProblems({ id, before, after }: Pair, reviewCap: number): TaskProblem[] {
  const { reviewStatus, passes, reviewCount, reviewFeedback } = after;
  const isApproval = reviewStatus === 'approved' && passes;
  const isRejection = reviewStatus === 'changes_requested' && !passes;
  const isAtCap = reviewCount >= reviewCap;
  const isUnmarked = hasText(reviewFeedback) && !reviewFeedback.trimStart().startsWith(capPrefix);
  const rules: readonly (readonly [isBroken: boolean, rule: string, details: string])[] = [
    [
      before.reviewStatus !== 'needs_review',
      'review may only modify a story that needs review',
      `its reviewStatus was ${show(before.reviewStatus)}, and only a story that needs review may be reviewed`,
    ],
    [
      reviewCount !== before.reviewCount + 1,
      'review must increment reviewCount',
      `reviewCount ${before.reviewCount} → ${reviewCount}, but a review increments it by exactly 1`,
    ],
    [
      !isApproval && !isRejection,
      'review must approve or request changes',
      `reviewStatus ${show(reviewStatus)} with passes=${passes} is neither an approval ("approved" and passes=true) nor a rejection ("changes_requested" and passes=false)`,
    ],
    [
      isRejection && !hasText(reviewFeedback),
      'feedback required',
      'reviewStatus "changes_requested" without reviewFeedback',
    ],
    [
      isAtCap && (isRejection || (isApproval && isUnmarked)),
      'review cap reached',
      `reviewCount ${reviewCount} is at the review cap ${reviewCap}: approve the story, and put ${capPrefix} before what is left to say in reviewFeedback`,
    ],
    [
      isApproval && !isAtCap && reviewFeedback.toUpperCase().includes(capPrefix),
      'review cap not reached',
      `${capPrefix} at reviewCount ${reviewCount}, but the review cap is ${reviewCap}: request changes instead`,
    ],
  ];
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, rule, details]) => ({
      rule,
      text: `Review iteration made illegal transition on story ${id}: ${details}.`,
    }));
}

/** A review that judges nothing would repeat for ever. */
function reviewMissing(pairs: readonly Pair[]): TaskProblem[] {
  const waiting = pairs.find(({ before }) => before.reviewStatus === 'needs_review');
  if (waiting === undefined) return [];
  const text = `Review iteration made illegal transition on story ${waiting.id}: reviewCount stayed at ${waiting.before.reviewCount}, but a review increments it by exactly 1 and approves the story or requests changes.`;
  return [{ rule: 'review must increment reviewCount', text, omission: true }];
}

function illegal(mode: IterationMode, pair: Pair, field: Field, rule: string): TaskProblem[] {
  return isChanged(pair, field) ? [step(mode, pair, field, rule)] : [];
}

function step(mode: IterationMode, { id, before, after }: Pair, field: Field, rule: string): TaskProblem {
  return { rule, text: explain[mode](id, field, show(before[field]), show(after[field])) };
}

function isChanged({ before, after }: Pair, field: Field): boolean {
  return before[field] !== after[field];
}

function show(value: ReviewFields[Field]): string {
  return JSON.stringify(value);
}
