import type { TaskList } from '../core/review/story.ts';
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

/** A PRD in a line: its name, and what it is about. */
export function aboutOf({ project, branchName, description }: TaskList): string {
  const told = [project.trim() || branchName, description.trim()].filter((text) => text !== '').join(': ');
  return `PRD ${told.replace(/\s+/g, ' ').slice(0, 200)}`;
}
