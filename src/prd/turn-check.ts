import { messageOf } from '../core/error.ts';
import { checkTasks, type TasksChecked } from '../core/review/check.ts';
import type { NextStep } from '../core/review/mode.ts';
import { readTasks } from '../core/review/read-tasks.ts';
import {
  type ReviewRules,
  type Story,
  snapshotOf,
  type TaskList,
  type TaskProblem,
} from '../core/review/story.ts';
import { removed } from '../core/review/transitions.ts';
import { type PrdPaths, parseTasks, readTasksFile, type TasksFile } from '../store/tasks.ts';

/** A task list that holds: the text of the file and what it says. */
export type Held = { readonly text: string; readonly tasks: TaskList };

/** Reads a task list; null where it cannot be read. */
export function readHeld(paths: Pick<PrdPaths, 'tasks' | 'top'>): Held | null {
  const file = readTasksFile(paths);
  const list = file.ok ? readTasks(file.value) : null;
  return file.ok && list?.ok ? { text: file.text, tasks: list.tasks } : null;
}

/** The problems that have to be undone; the others are things that were not done. */
export function illegalOf(problems: readonly TaskProblem[]): TaskProblem[] {
  return problems.filter(({ omission }) => !omission);
}

type Worked = { readonly mode: NextStep['mode']; readonly story: string | null };

/** What is wrong with the file after a turn, compared with the list that held before it. Never throws. */
export function checkTurn(
  file: TasksFile,
  before: TaskList,
  worked: Worked,
  rules: ReviewRules,
): TasksChecked {
  if (!file.ok) return { tasks: null, problems: [{ rule: 'schema', text: file.problem }] };
  try {
    return compare(file.value, before, worked, rules);
  } catch (error) {
    // What nobody can check does not hold.
    const text = `tasks.json cannot be checked: ${messageOf(error)}`;
    return { tasks: null, problems: [{ rule: 'schema', text }] };
  }
}

/** Whether this text would be an illegal task list after that turn. */
export function isIllegal(
  text: string | null,
  before: TaskList,
  worked: Worked,
  rules: ReviewRules,
): boolean {
  return illegalOf(checkTurn(parseTasks(text), before, worked, rules).problems).length > 0;
}

function compare(value: unknown, before: TaskList, worked: Worked, rules: ReviewRules): TasksChecked {
  const { mode } = worked;
  const snapshot = snapshotOf(before);
  const checked = checkTasks(value, { ...rules, iteration: { mode, snapshot } });
  if (checked.tasks === null) return checked;
  const more = rules.skipReview
    ? removed(snapshot, checked.tasks.userStories, mode)
    : [...softened(before, checked.tasks, worked), ...reworded(before, checked.tasks)];
  return { ...checked, problems: [...checked.problems, ...more] };
}

type Pair = { readonly was: Story; readonly story: Story };

function pairsOf(before: TaskList, { userStories }: TaskList): Pair[] {
  const earlier = new Map(before.userStories.map((story) => [story.id, story]));
  return userStories.flatMap((story) => {
    const was = earlier.get(story.id);
    return was === undefined ? [] : [{ was, story }];
  });
}

/** Nobody sets the measure of the work that he does or judges himself. */
function softened(before: TaskList, after: TaskList, { mode, story: worked }: Worked): TaskProblem[] {
  const known = new Set(before.userStories.map(({ id }) => id));
  const added = after.userStories.filter(({ id }) => !known.has(id));
  return pairsOf(before, after).flatMap(({ was, story }) => {
    if (sameCriteria(was, story)) return [];
    if (story.id !== worked && story.reviewStatus === was.reviewStatus) return [];
    if (mode === 'implement' && was.reviewStatus === null && isSplit(was, story, added)) return [];
    return [
      {
        rule: 'acceptance criteria may not change with the work',
        text: `Story ${story.id} was worked on in this iteration and has other acceptanceCriteria than before. Put them back; say in notes what is wrong with them. A story that is too much may be split: move criteria word for word to new stories.`,
      },
    ];
  });
}

/** Whether every criterion that the story lost stands in a story that is new, word for word. */
function isSplit(was: Story, story: Story, added: readonly Story[]): boolean {
  const left = criteriaOf(story);
  const moved = added.flatMap((each) => [...criteriaOf(each)]);
  return [...criteriaOf(was)].every((each) => left.has(each) || moved.includes(each));
}

function criteriaOf({ acceptanceCriteria }: Pick<Story, 'acceptanceCriteria'>): Set<string> {
  return new Set(acceptanceCriteria.map((each) => JSON.stringify(each)));
}

/** What a review wrote stays as it is until the story moves on. */
function reworded(before: TaskList, after: TaskList): TaskProblem[] {
  return pairsOf(before, after).flatMap(({ was, story }) => {
    const moved =
      was.passes !== story.passes ||
      was.reviewStatus !== story.reviewStatus ||
      was.reviewCount !== story.reviewCount;
    if (moved || was.reviewFeedback === story.reviewFeedback) return [];
    const text = `Story ${story.id} has another reviewFeedback than before, though nobody reviewed it in this iteration. Put it back.`;
    return [{ rule: 'reviewFeedback belongs to the review', text }];
  });
}

export function sameCriteria(
  a: Pick<Story, 'acceptanceCriteria'>,
  b: Pick<Story, 'acceptanceCriteria'>,
): boolean {
  return JSON.stringify(a.acceptanceCriteria) === JSON.stringify(b.acceptanceCriteria);
}
