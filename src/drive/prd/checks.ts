import type { Check } from '../../core/evidence.ts';
import { defuseTags } from '../../core/feedback.ts';
import { problemLine } from '../../core/review/check.ts';
import { countTasks, isComplete, type NextStep } from '../../core/review/mode.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../../core/review/story.ts';
import { plural } from '../../core/text.ts';
import type { Uncommitted } from '../../os/git/uncommitted.ts';
import { commitWords } from './tasks.ts';

const mostLines = 20;

/** Returns the check of the task list, with feedback for the next agent; none if the turn broke no rule. */
export function listChecks(
  problems: readonly TaskProblem[],
  undone: boolean,
  { mode }: NextStep,
  { skipReview }: ReviewRules,
): Check[] {
  if (problems.length === 0) return [];
  // The rules alone: the event about the list has the sentences.
  const detail = [...new Set(problems.map(({ rule, text }) => (rule === 'schema' ? text : rule)))].join(', ');
  const list = problems.slice(0, mostLines).map((problem) => `- ${defuseTags(problemLine(problem))}`);
  const first = undone
    ? `The last iteration changed ralph/tasks.json in a way that is not allowed${skipReview ? '' : ` in ${mode} mode`}. Its change to that file was undone; all other work is still there:`
    : `The last iteration did not do what its mode (${mode}) is for:`;
  return [failure('task-list', detail, [first, ...list].join('\n'))];
}

/** Returns the check of files that steer the agents; none if the agent changed no file. */
export function steeringChecks(names: readonly string[]): Check[] {
  if (names.length === 0) return [];
  const list = names.join(', ');
  const text = `The last iteration changed ${list}. That is for people to do: it was put back. Leave it alone; what later iterations have to know belongs in progress.txt.`;
  return [failure('steering', `changed: ${list}`, text)];
}

export function progressChecks(isLost: boolean): Check[] {
  if (!isLost) return [];
  const text =
    'The last iteration emptied progress.txt. What it said was put back, with what was new after it. Add to it, and take out only what is wrong.';
  return [failure('progress-log', 'emptied', text)];
}

export function commitChecks({ changes, failure: problem }: Uncommitted): Check[] {
  if (problem !== null) {
    const text = `After the last iteration ${problem}. Put the repository right, and commit ALL changes.`;
    return [failure('commit', problem, text)];
  }
  if (changes.length === 0) return [];
  const detail = plural(changes.length, 'uncommitted change');
  return [failure('commit', detail, commitWords('The last iteration left uncommitted changes:', changes))];
}

/** Returns how many stories are done, as evidence about a claim, with feedback while stories are left. */
export function evidenceOf(tasks: TaskList, rules: ReviewRules): Check {
  const { done, total } = countTasks(tasks);
  const { skipReview } = rules;
  const detail = `${done} of ${total} stories are done`;
  if (isComplete(tasks, rules)) return { check: 'tasks', ok: true, detail };
  const list = tasks.userStories
    .filter(({ passes, reviewStatus }) => !passes || (!skipReview && reviewStatus !== 'approved'))
    .slice(0, mostLines)
    .map(({ id, passes, reviewStatus }) => `- ${id}: passes=${passes}, reviewStatus=${reviewStatus}`);
  const state = skipReview ? 'passes: true' : 'passes: true and reviewStatus: "approved"';
  const text = `The claim to be complete was rejected: every story in tasks.json needs ${state}. These are left:`;
  return failure('tasks', detail, [text, ...list].join('\n'));
}

function failure(check: string, detail: string, text: string): Check {
  return { check, ok: false, detail, feedback: { action: 'APPEND', text } };
}
