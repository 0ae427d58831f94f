import { problemLine } from '../../core/review/check.ts';
import { dependencyProblems } from '../../core/review/dependencies.ts';
import { checkInvariants } from '../../core/review/invariants.ts';
import { readTasks } from '../../core/review/read-tasks.ts';
import {
  defaultReviewRules,
  type ReviewRules,
  type TaskList,
  type TaskProblem,
} from '../../core/review/story.ts';
import { lastRules } from '../../drive/prd/last-run.ts';
import { memoryOf, type PrdMemory, readMemory } from '../../drive/prd/memory.ts';
import { openTasks, prdPlace } from '../../drive/prd/open.ts';
import { readActive } from '../../drive/prd/ralph-active.ts';
import { prdStatus } from '../../drive/prd/status.ts';
import { type PrdPaths, readTasksFile } from '../../drive/prd/tasks.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { prdBoard } from '../../show/terminal/prd-board.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { prdStatusOptions } from './options.ts';

/** `ralph prd status` */
export function status(context: Context, { values }: Input<typeof prdStatusOptions>) {
  const { cwd, env, stdout } = context;
  const place = prdPlace(cwd, values);
  const { tasks } = openTasks(place.paths);
  const memory = memoryOf(readMemory(env, place.paths.tasks), tasks);
  const stories = prdStatus(place, tasks, rulesFor(place, tasks, memory, values), memory);
  if (values.json) return writeJson(context, stories);
  const clean: typeof stories = JSON.parse(JSON.stringify(stories), (_key, value) =>
    typeof value === 'string' ? cleanTerminal(value) : value,
  );
  stdout.write(prdBoard(clean, styleOf(context), stdout.isTTY ? stdout.stream.columns : undefined));
}

/** `ralph prd validate` */
export function validate(context: Context, { values }: Input<typeof prdStatusOptions>): number {
  const { cwd, env, stdout } = context;
  const place = prdPlace(cwd, values);
  const problems = problemsIn(place.paths, (tasks) =>
    rulesFor(place, tasks, memoryOf(readMemory(env, place.paths.tasks), tasks), values),
  );
  const ok = problems.length === 0;
  if (values.json) writeJson(context, { ok, problems });
  else if (ok) stdout.write('tasks.json is valid\n');
  else for (const problem of problems) stdout.write(`${cleanTerminal(problemLine(problem))}\n`);
  return ok ? 0 : 1;
}

/** The review rules: as typed, else of the loop that works on the PRD, else of the last one that did. */
function rulesFor(
  place: ReturnType<typeof prdPlace>,
  tasks: TaskList,
  memory: PrdMemory | null,
  values: { readonly 'skip-review'?: boolean },
): ReviewRules {
  const rules = readActive(place.projectDir)?.rules ?? lastRules(place, tasks, memory) ?? defaultReviewRules;
  return { ...rules, skipReview: values['skip-review'] ?? rules.skipReview };
}

function problemsIn(paths: PrdPaths, rulesOf: (tasks: TaskList) => ReviewRules): TaskProblem[] {
  const file = readTasksFile(paths);
  if (!file.ok) return [{ rule: 'schema', text: file.problem }];
  const list = readTasks(file.value);
  if (!list.ok) return [...list.problems];
  const rules = rulesOf(list.tasks);
  const empty = list.tasks.userStories.length === 0;
  return [
    ...(empty ? [{ rule: 'no stories', text: 'userStories is empty: there is nothing to work on.' }] : []),
    ...dependencyProblems(list.tasks),
    ...(rules.skipReview ? [] : checkInvariants(list.tasks, rules)),
  ];
}
