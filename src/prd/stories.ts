import type { TaskList } from '../core/review/story.ts';
import type { StoryState } from '../store/events.ts';

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
