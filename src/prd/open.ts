import { resolve } from 'node:path';
import { RalphError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import { otherExits } from '../core/outcome.ts';
import { problemLine } from '../core/review/check.ts';
import { checkInvariants } from '../core/review/invariants.ts';
import { readTasks } from '../core/review/read-tasks.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../core/review/story.ts';
import { activeOwner, readActive } from '../store/ralph-active.ts';
import { prdPaths, readTasksFile } from '../store/tasks.ts';
import { lstatOf, readText } from '../system/files.ts';

/** Where a command about a PRD was told to work. */
export function prdPlace(
  cwd: string,
  values: { readonly 'project-dir'?: string; readonly 'ralph-dir'?: string },
): { readonly projectDir: string; readonly paths: ReturnType<typeof prdPaths> } {
  const projectDir = resolve(cwd, values['project-dir'] ?? '.');
  const ralphDir = values['ralph-dir'];
  if (!lstatOf(projectDir)) {
    throw new RalphError('no-project', `the project folder ${projectDir} does not exist`, {
      remedy: `mkdir -p '${projectDir}'`,
    });
  }
  return { projectDir, paths: prdPaths(ralphDirOf(cwd, projectDir, ralphDir), projectDir) };
}

/** A path means what it means in the shell; only where nothing is there it may be meant from the project. */
function ralphDirOf(cwd: string, projectDir: string, ralphDir: string | undefined): string {
  if (ralphDir === undefined) return resolve(projectDir, 'ralph');
  const fromHere = resolve(cwd, ralphDir);
  const fromProject = resolve(projectDir, ralphDir);
  return !lstatOf(fromHere) && lstatOf(fromProject) ? fromProject : fromHere;
}

/** The task list of a PRD; one that cannot be used is told in full. */
export function openTasks(paths: ReturnType<typeof prdPaths>): {
  readonly text: string;
  readonly tasks: TaskList;
} {
  const file = readTasksFile(paths);
  if (!file.ok && file.text === null && !lstatOf(paths.tasks)) {
    throw new RalphError('no-prd', `there is no task list here: ${paths.tasks} does not exist`, {
      remedy: 'ralph prd init',
    });
  }
  if (!file.ok) throw unusable([{ rule: 'schema', text: file.problem }], paths.tasks);
  const read = readTasks(file.value);
  if (!read.ok) throw unusable(read.problems, paths.tasks, isBlank(file.value) ? planCommand : undefined);
  return { text: file.text, tasks: read.tasks };
}

/** What has to be right before a loop over a PRD starts. */
export function checkStart(tasks: TaskList, rules: ReviewRules, paths: ReturnType<typeof prdPaths>): void {
  if (tasks.userStories.length === 0) {
    throw new RalphError('no-stories', `${paths.tasks} has no stories yet`, {
      remedy: planCommand,
    });
  }
  const prompt = readText(paths.prompt, { root: paths.top });
  if (prompt === null || prompt.trim() === '') {
    throw new RalphError('no-prompt', `${paths.prompt} ${prompt === null ? 'does not exist' : 'is empty'}`, {
      remedy: 'ralph prd init',
    });
  }
  if (rules.skipReview) return;
  const problems = checkInvariants(tasks, rules);
  const unreviewed = tasks.userStories.some(({ passes, reviewStatus }) => passes && reviewStatus === null);
  const remedy = unreviewed ? 'ralph prd run --skip-review, if it is worked off without reviews' : undefined;
  if (problems.length > 0) throw unusable(problems, paths.tasks, remedy);
  const over = tasks.userStories.find(({ passes, reviewCount }) => !passes && reviewCount > rules.reviewCap);
  if (over) {
    throw new RalphError(
      'review-cap',
      `story ${over.id} has had ${over.reviewCount} reviews already, more than the review cap ${rules.reviewCap}`,
      { remedy: `ralph prd run --review-cap ${over.reviewCount + 1}` },
    );
  }
}

/** One loop per project, also where the other one is not ours: a living owner of the marker keeps it. */
export function refuseSecondLoop(projectDir: string): void {
  const marker = readActive(projectDir);
  const pid = marker && activeOwner(marker);
  if (pid === null || pid === process.pid) return;
  throw new RalphError(
    'already-running',
    `a loop is already working on this PRD: process ${pid}, by .ralph-active`,
    {
      remedy: `ralph stop, or if process ${pid} is something else: rm .ralph-active`,
      exitCode: otherExits.alreadyRunning.exitCode,
    },
  );
}

/** Claude Code knows a plugin's commands only by their long names; the short one has to be installed. */
export const planCommand = 'ralph install claude && claude "/ralph-plan"';

/** The template as `ralph prd init` writes it, which nobody has filled in. */
function isBlank(value: unknown): boolean {
  const stories: unknown = isObject(value) ? value.userStories : null;
  return (
    Array.isArray(stories) &&
    stories.every((story) => isObject(story) && (story.title === '' || story.title === undefined))
  );
}

function unusable(problems: readonly TaskProblem[], path: string, remedy = 'ralph prd validate'): RalphError {
  const lines = problems.map((problem) => `\n  ${problemLine(problem)}`);
  return new RalphError('tasks-invalid', `${path} cannot be used:${lines.join('')}`, { remedy });
}
