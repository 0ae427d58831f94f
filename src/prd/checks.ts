import type { Check } from '../core/evidence.ts';
import { commitWords } from '../core/review/commit-words.ts';
import { countTasks, isComplete, type NextStep } from '../core/review/mode.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../core/review/story.ts';
import type { Uncommitted } from '../system/uncommitted.ts';
import { claimFeedback, undoneFeedback } from './words.ts';

/** The rules of the task list that a turn broke. */
export function listChecks(
  problems: readonly TaskProblem[],
  undone: boolean,
  step: NextStep,
  rules: ReviewRules,
): Check[] {
  if (problems.length === 0) return [];
  // The sentences were told with the check itself.
  const detail = [...new Set(problems.map(({ rule, text }) => (rule === 'schema' ? text : rule)))].join(', ');
  return [failed('task-list', detail, undoneFeedback(problems, undone, step, rules))];
}

/** Files that steer the agents and that one of them changed. */
export function steeringChecks(changed: readonly string[]): Check[] {
  if (changed.length === 0) return [];
  const list = changed.join(', ');
  const text = `The last iteration changed ${list}. That is for people to do: it was put back. Leave it alone; what later iterations have to know belongs in progress.txt.`;
  return [failed('steering', `changed: ${list}`, text)];
}

export function progressChecks(lost: boolean): Check[] {
  if (!lost) return [];
  const text =
    'The last iteration emptied progress.txt. What it said was put back, with what was new after it. Add to it, and take out only what is wrong.';
  return [failed('progress-log', 'emptied', text)];
}

export function commitChecks({ changes, failure }: Uncommitted): Check[] {
  if (failure !== null) {
    const text = `After the last iteration ${failure}. Put the repository right, and commit ALL changes.`;
    return [failed('commit', failure, text)];
  }
  if (changes.length === 0) return [];
  const detail = `${changes.length} uncommitted change${changes.length === 1 ? '' : 's'}`;
  return [failed('commit', detail, commitWords('The last iteration left uncommitted changes:', changes))];
}

/** How many stories are done, for or against a claim. */
export function evidenceOf(tasks: TaskList, rules: ReviewRules): Check {
  const { done, total } = countTasks(tasks);
  const detail = `${done} of ${total} stories are done`;
  if (isComplete(tasks, rules)) return { check: 'tasks', ok: true, detail };
  return failed('tasks', detail, claimFeedback(tasks, rules));
}

function failed(check: string, detail: string, text: string): Check {
  return { check, ok: false, detail, feedback: { action: 'APPEND', text } };
}
