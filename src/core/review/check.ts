import { checkInvariants } from './invariants.ts';
import { readTasks } from './read-tasks.ts';
import type { IterationMode, ReviewRules, Snapshot, TaskList, TaskProblem } from './story.ts';
import { checkTransitions } from './transitions.ts';

/** What a task list is checked against after an iteration. */
export type TaskRules = ReviewRules & {
  /** What the iteration was for, and what the review fields were before it; null where nobody wrote it down. */
  readonly iteration: { readonly mode: IterationMode; readonly snapshot: Snapshot } | null;
};

export type TasksChecked = {
  /** Null where it is no task list at all. */
  readonly tasks: TaskList | null;
  readonly problems: readonly TaskProblem[];
};

/** Checks 1, 2 and 2.5 on the content of tasks.json, whatever that is. */
export function checkTasks(value: unknown, rules: TaskRules): TasksChecked {
  const read = readTasks(value);
  if (!read.ok) return { tasks: null, problems: read.problems };
  const { tasks } = read;
  if (rules.skipReview) return { tasks, problems: [] };
  const { iteration } = rules;
  const moved = iteration ? checkTransitions(tasks, iteration.snapshot, iteration.mode, rules) : [];
  return { tasks, problems: [...checkInvariants(tasks, rules), ...moved] };
}

/** A problem in one line: the rule in a few words, then the sentence. */
export function problemLine({ rule, text }: TaskProblem): string {
  return rule === 'schema' ? text : `${rule}: ${text}`;
}
