import { checkTasks, type TasksChecked } from '../core/review/check.ts';
import type { NextStep } from '../core/review/mode.ts';
import {
  type ReviewRules,
  type Story,
  snapshotOf,
  type TaskList,
  type TaskProblem,
} from '../core/review/story.ts';
import { removed } from '../core/review/transitions.ts';
import type { TasksFile } from '../store/tasks.ts';

/** A task list that holds: the text of the file and what it says. */
export type Held = { readonly text: string; readonly tasks: TaskList };

/** What is wrong with the file after a turn, compared with the list that held before it. */
export function checkTurn(
  file: TasksFile,
  before: TaskList,
  { mode, story }: { readonly mode: NextStep['mode']; readonly story: string | null },
  rules: ReviewRules,
): TasksChecked {
  if (!file.ok) return { tasks: null, problems: [{ rule: 'schema', text: file.problem }] };
  const snapshot = snapshotOf(before);
  const checked = checkTasks(file.value, { ...rules, iteration: { mode, snapshot } });
  if (checked.tasks === null) return checked;
  const more = rules.skipReview
    ? removed(snapshot, checked.tasks.userStories, mode)
    : softened(before, checked.tasks, story);
  return { ...checked, problems: [...checked.problems, ...more] };
}

/** Nobody sets the measure of the work that he does or judges himself. */
function softened(before: TaskList, { userStories }: TaskList, worked: string | null): TaskProblem[] {
  const earlier = new Map(before.userStories.map((story) => [story.id, story]));
  return userStories.flatMap((story) => {
    const was = earlier.get(story.id);
    if (was === undefined || sameCriteria(was, story)) return [];
    if (story.id !== worked && story.reviewStatus === was.reviewStatus) return [];
    return [
      {
        rule: 'acceptance criteria may not change with the work',
        text: `Story ${story.id} was worked on in this iteration and has other acceptanceCriteria than before. Put them back; say in notes what is wrong with them.`,
      },
    ];
  });
}

export function sameCriteria(
  a: Pick<Story, 'acceptanceCriteria'>,
  b: Pick<Story, 'acceptanceCriteria'>,
): boolean {
  return JSON.stringify(a.acceptanceCriteria) === JSON.stringify(b.acceptanceCriteria);
}
