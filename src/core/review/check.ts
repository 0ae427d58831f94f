import { checkInvariants } from './invariants.ts';
import { readTasks } from './read-tasks.ts';
import type { IterationMode, ReviewRules, Snapshot, TaskList, TaskProblem } from './story.ts';
import { checkTransitions } from './transitions.ts';

/** Rules for a task list after an iteration. */
export type TaskRules = ReviewRules & {
  /** Mode of the iteration, and the review fields before it; null if neither was recorded. */
  readonly iteration: { readonly mode: IterationMode; readonly snapshot: Snapshot } | null;
};

export type TasksChecked = {
  /** Null if the content is no task list. */
  readonly tasks: TaskList | null;
  readonly problems: readonly TaskProblem[];
};

/** Runs checks 1, 2 and 2.5 on any content of tasks.json. */
export function checkTasks(value: unknown, rules: TaskRules): TasksChecked {
  const reading = readTasks(value);
  if (!reading.ok) return { tasks: null, problems: reading.problems };
  const { tasks } = reading;
  if (rules.skipReview) return { tasks, problems: [] };
  const { iteration } = rules;
  const stepProblems = iteration ? checkTransitions(tasks, iteration.snapshot, iteration.mode, rules) : [];
  return { tasks, problems: [...checkInvariants(tasks, rules), ...stepProblems] };
}

/** Formats a problem on one line: the rule in a few words, then the sentence. */
export function problemLine({ rule, text }: TaskProblem): string {
  return rule === 'schema' ? text : `${rule}: ${text}`;
}
