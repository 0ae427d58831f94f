import { problemLine } from '../core/review/check.ts';
import { countTasks, isComplete } from '../core/review/mode.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../core/review/story.ts';
import type { EventBody, EventOf } from '../store/events.ts';
import type { StoryState } from '../store/loop-schemas.ts';

/** The stories as a journal keeps them. */
export function storiesOf({ userStories }: TaskList): StoryState[] {
  return userStories.map(({ id, title, priority, passes, reviewStatus, reviewCount, dependsOn }) => ({
    id,
    title,
    priority,
    passes,
    reviewStatus,
    reviewCount,
    dependsOn,
  }));
}

/** The task list after a turn, as a journal keeps it. */
export function listChecked(
  turn: Pick<EventOf<'prd.checked'>, 'iteration' | 'mode' | 'ok' | 'undone'>,
  problems: readonly TaskProblem[],
  tasks: TaskList,
  rules: ReviewRules,
): Extract<EventBody, { type: 'prd.checked' }> {
  return {
    type: 'prd.checked',
    ...turn,
    problems: problems.map(problemLine),
    complete: isComplete(tasks, rules),
    counts: countTasks(tasks),
    stories: storiesOf(tasks),
  };
}

/** A PRD in a line: its name, and what it is about. */
export function aboutOf({ project, branchName, description }: TaskList): string {
  const told = [project.trim() || branchName, description.trim()].filter((text) => text !== '').join(': ');
  return `PRD ${told.replace(/\s+/g, ' ').slice(0, 200)}`;
}
