import { problemLine } from '../../core/review/check.ts';
import { countTasks, isComplete } from '../../core/review/mode.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../../core/review/story.ts';
import { oneLine } from '../../core/text.ts';
import type { EventBody, EventOf } from '../../journal/events.ts';
import type { StoryState } from '../../journal/loop-schemas.ts';

/** Returns the stories as the journal has them. */
export function storyStates({ userStories }: TaskList): StoryState[] {
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

export function checkedEvent(
  { iteration, mode, ok, undone }: Pick<EventOf<'prd.checked'>, 'iteration' | 'mode' | 'ok' | 'undone'>,
  problems: readonly TaskProblem[],
  tasks: TaskList,
  rules: ReviewRules,
): Extract<EventBody, { type: 'prd.checked' }> {
  return {
    type: 'prd.checked',
    iteration,
    mode,
    ok,
    undone,
    problems: problems.map(problemLine),
    complete: isComplete(tasks, rules),
    counts: countTasks(tasks),
    stories: storyStates(tasks),
  };
}

/** Describes a PRD in one line: its name and description. */
export function aboutLine({ project, branchName, description }: TaskList): string {
  const text = [project.trim() || branchName, description.trim()].filter((part) => part !== '').join(': ');
  return `PRD ${oneLine(text)}`;
}
