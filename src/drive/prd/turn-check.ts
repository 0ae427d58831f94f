import { messageOf } from '../../core/error.ts';
import { checkTasks, type TasksChecked } from '../../core/review/check.ts';
import type { NextStep } from '../../core/review/mode.ts';
import { readTasks } from '../../core/review/read-tasks.ts';
import {
  type ReviewRules,
  type Story,
  snapshotOf,
  type TaskList,
  type TaskProblem,
} from '../../core/review/story.ts';
import { removed } from '../../core/review/transitions.ts';
import { type PrdPaths, readTasksFile, type TasksFile } from './tasks.ts';

/** A valid task list, with the text of its file. */
export type ValidTasks = { readonly text: string; readonly tasks: TaskList };

export function readValidTasks(paths: Pick<PrdPaths, 'tasks' | 'top'>): ValidTasks | null {
  return validTasks(readTasksFile(paths));
}

export function validTasks(file: TasksFile): ValidTasks | null {
  const list = file.ok ? readTasks(file.value) : null;
  return file.ok && list?.ok ? { text: file.text, tasks: list.tasks } : null;
}

/** Returns the problems that have to be undone; the others are omissions. */
export function illegalOf(problems: readonly TaskProblem[]): TaskProblem[] {
  return problems.filter(({ omission }) => !omission);
}

export type TurnWork = { readonly mode: NextStep['mode']; readonly story: string | null };

/** Compares the file after a turn with the list before it. Never throws. */
export function checkTurn(
  file: TasksFile,
  before: TaskList,
  work: TurnWork,
  rules: ReviewRules,
): TasksChecked {
  if (!file.ok) return { tasks: null, problems: [{ rule: 'schema', text: file.problem }] };
  try {
    const { mode } = work;
    const snapshot = snapshotOf(before);
    const result = checkTasks(file.value, { ...rules, iteration: { mode, snapshot } });
    if (result.tasks === null) return result;
    const more = rules.skipReview
      ? removed(snapshot, result.tasks.userStories, mode)
      : [...softenedCriteria(before, result.tasks, work), ...rewordedFeedback(before, result.tasks)];
    return { ...result, problems: [...result.problems, ...more] };
  } catch (error) {
    // Counts a list that cannot be checked as illegal.
    const text = `tasks.json cannot be checked: ${messageOf(error)}`;
    return { tasks: null, problems: [{ rule: 'schema', text }] };
  }
}

function pairsOf(before: TaskList, { userStories }: TaskList) {
  const earlier = new Map(before.userStories.map((story) => [story.id, story]));
  return userStories.flatMap((story) => {
    const was = earlier.get(story.id);
    return was === undefined ? [] : [{ was, story }];
  });
}

/** Returns problems for criteria that changed in the story that was worked on: no agent sets the measure of its own work. */
function softenedCriteria(
  before: TaskList,
  after: TaskList,
  { mode, story: ownStory }: TurnWork,
): TaskProblem[] {
  const oldIds = new Set(before.userStories.map(({ id }) => id));
  const newStories = after.userStories.filter(({ id }) => !oldIds.has(id));
  return pairsOf(before, after).flatMap(({ was, story }) => {
    if (sameCriteria(was, story)) return [];
    if (story.id !== ownStory && story.reviewStatus === was.reviewStatus) return [];
    if (mode === 'implement' && was.reviewStatus === null && isSplit(was, story, newStories)) return [];
    return [
      {
        rule: 'acceptance criteria may not change with the work',
        text: `Story ${story.id} was worked on in this iteration and has other acceptanceCriteria than before. Put them back; say in notes what is wrong with them. A story that is too much may be split: move criteria word for word to new stories.`,
      },
    ];
  });
}

/** True if every criterion that the story lost is in a new story, word for word. */
function isSplit(was: Story, story: Story, newStories: readonly Story[]): boolean {
  const remaining = criteriaOf(story);
  const movedCriteria = newStories.flatMap((each) => [...criteriaOf(each)]);
  return [...criteriaOf(was)].every((each) => remaining.has(each) || movedCriteria.includes(each));
}

function criteriaOf({ acceptanceCriteria }: Story): Set<string> {
  return new Set(acceptanceCriteria.map((each) => JSON.stringify(each)));
}

/** Returns problems for stories that a turn submitted for review without a commit: there is nothing to review yet. */
export function withoutCommit(before: TaskList, after: TaskList): TaskProblem[] {
  const submissions = pairsOf(before, after).filter(
    ({ was, story }) => story.reviewStatus === 'needs_review' && was.reviewStatus !== 'needs_review',
  );
  return submissions.map(({ story: { id } }) => ({
    rule: 'work has to be committed before its review',
    text: `Story ${id} was submitted for review, but this iteration made no commit. Commit the work together with reviewStatus "needs_review".`,
  }));
}

function rewordedFeedback(before: TaskList, after: TaskList): TaskProblem[] {
  return pairsOf(before, after).flatMap(({ was, story }) => {
    const isReviewed =
      was.passes !== story.passes ||
      was.reviewStatus !== story.reviewStatus ||
      was.reviewCount !== story.reviewCount;
    if (isReviewed || was.reviewFeedback === story.reviewFeedback) return [];
    const text = `Story ${story.id} has another reviewFeedback than before, though nobody reviewed it in this iteration. Put it back.`;
    return [{ rule: 'reviewFeedback belongs to the review', text }];
  });
}

type WithCriteria = Pick<Story, 'acceptanceCriteria'>;

export function sameCriteria(a: WithCriteria, b: WithCriteria): boolean {
  return JSON.stringify(a.acceptanceCriteria) === JSON.stringify(b.acceptanceCriteria);
}
