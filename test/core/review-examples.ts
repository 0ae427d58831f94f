import type { Story, TaskList } from '../../src/core/review/story.ts';

/** A story for tests, as `ralph prd init` would begin it. */
export function aStory(id: string, change: Partial<Story> = {}): Story {
  return {
    id,
    title: `Title of ${id}`,
    description: '',
    priority: 1,
    passes: false,
    acceptanceCriteria: ['it works'],
    reviewStatus: null,
    reviewCount: 0,
    reviewFeedback: '',
    notes: change.passes ? 'done' : '',
    dependsOn: [],
    ...change,
  };
}

export function aTaskList(...userStories: Story[]): TaskList {
  return { project: 'demo', branchName: 'ralph/demo', description: 'd', verifyCommands: [], userStories };
}

/** The four states that a story can legally be in. */
export const legalStates = {
  open: { passes: false, reviewStatus: null, reviewCount: 0 },
  waiting: { passes: false, reviewStatus: 'needs_review', reviewCount: 1 },
  rejected: {
    passes: false,
    reviewStatus: 'changes_requested',
    reviewCount: 1,
    reviewFeedback: 'The empty list is not handled in list.ts.',
  },
  approved: { passes: true, reviewStatus: 'approved', reviewCount: 1, notes: 'done' },
} as const satisfies Record<string, Partial<Story>>;
