import { defuseTags } from '../core/feedback.ts';
import { problemLine } from '../core/review/check.ts';
import type { NextStep } from '../core/review/mode.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../core/review/story.ts';

const shown = 20;

/** What the next agent reads when the last one broke the rules of the task list. */
export function undoneFeedback(
  problems: readonly TaskProblem[],
  undone: boolean,
  { mode }: NextStep,
  { skipReview }: ReviewRules,
): string {
  const list = problems.slice(0, shown).map((problem) => `- ${defuseTags(problemLine(problem))}`);
  const first = undone
    ? `The last iteration changed ralph/tasks.json in a way that is not allowed${skipReview ? '' : ` in ${mode} mode`}. Its change to that file was undone; all other work is still there:`
    : `The last iteration did not do what its mode (${mode}) is for:`;
  return [first, ...list].join('\n');
}

/** What a claim gets to hear while stories are left. */
export function claimFeedback({ userStories }: TaskList, { skipReview }: ReviewRules): string {
  const left = userStories.filter(
    ({ passes, reviewStatus }) => !passes || (!skipReview && reviewStatus !== 'approved'),
  );
  const list = left
    .slice(0, shown)
    .map(({ id, passes, reviewStatus }) => `- ${id}: passes=${passes}, reviewStatus=${reviewStatus}`);
  const wanted = skipReview ? 'passes: true' : 'passes: true and reviewStatus: "approved"';
  return `The claim to be complete was rejected: every story in tasks.json needs ${wanted}. These are left:\n${list.join('\n')}`;
}
