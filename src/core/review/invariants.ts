import { hasText, type ReviewRules, type Story, type TaskList, type TaskProblem } from './story.ts';

/** Check 2: rules that hold in every task list while stories are reviewed. */
export function checkInvariants({ userStories }: TaskList, { reviewCap }: ReviewRules): TaskProblem[] {
  return userStories.flatMap((story) => storyProblems(story, reviewCap));
}

function storyProblems(story: Story, reviewCap: number): TaskProblem[] {
  const { id, passes, reviewStatus, reviewCount, reviewFeedback } = story;
  const problems: TaskProblem[] = [];
  if (passes && reviewStatus !== 'approved') {
    problems.push({
      rule: 'not approved',
      text: `Story ${id} has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
    });
  }
  if (!passes && reviewStatus === 'approved') {
    problems.push({
      rule: 'out of sync',
      text: `Story ${id} has reviewStatus 'approved' but passes=false. The two fields go together.`,
    });
  }
  if (reviewStatus === 'changes_requested' && !hasText(reviewFeedback)) {
    problems.push({
      rule: 'feedback required',
      text: `Story ${id} has reviewStatus 'changes_requested' but reviewFeedback is empty. Say there what has to be fixed, and where.`,
    });
  }
  if (reviewCount > reviewCap + 1) {
    problems.push({
      rule: 'review cap exceeded',
      text: `Story ${id} has reviewCount ${reviewCount}, but the review cap is ${reviewCap}.`,
    });
  }
  return problems;
}
