import { hasText, type ReviewRules, type Story, type TaskList, type TaskProblem } from './story.ts';

/** Check 2: rules that hold in every task list while stories are reviewed. */
export function checkInvariants({ userStories }: TaskList, { reviewCap }: ReviewRules): TaskProblem[] {
  return userStories.flatMap((story) => storyProblems(story, reviewCap));
}

function storyProblems(story: Story, reviewCap: number): TaskProblem[] {
  const { id, passes, reviewStatus, reviewCount, reviewFeedback } = story;
  const rules: readonly (readonly [isBroken: boolean, rule: string, text: string])[] = [
    [
      passes && reviewStatus !== 'approved',
      'not approved',
      `Story ${id} has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
    ],
    [
      !passes && reviewStatus === 'approved',
      'out of sync',
      `Story ${id} has reviewStatus 'approved' but passes=false. The two fields go together.`,
    ],
    [
      reviewStatus === 'changes_requested' && !hasText(reviewFeedback),
      'feedback required',
      `Story ${id} has reviewStatus 'changes_requested' but reviewFeedback is empty. Say there what has to be fixed, and where.`,
    ],
    [
      reviewCount > reviewCap + 1,
      'review cap exceeded',
      `Story ${id} has reviewCount ${reviewCount}, but the review cap is ${reviewCap}.`,
    ],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, rule, text]) => ({ rule, text }));
}
