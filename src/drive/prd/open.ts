import { resolve } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { otherExits } from '../../core/outcome.ts';
import { problemLine } from '../../core/review/check.ts';
import { checkInvariants } from '../../core/review/invariants.ts';
import { readTasks } from '../../core/review/read-tasks.ts';
import type { ReviewRules, TaskList, TaskProblem } from '../../core/review/story.ts';
import { lstatOf, readText } from '../../os/files/files.ts';
import { activeOwner, readActive } from './ralph-active.ts';
import { type PrdPaths, type PrdPlace, prdPaths, readTasksFile } from './tasks.ts';
import type { ValidTasks } from './turn-check.ts';

/** Resolves the folders of a command about a PRD. */
export function prdPlace(
  cwd: string,
  values: { readonly 'project-dir'?: string; readonly 'ralph-dir'?: string },
): PrdPlace {
  const projectDir = resolve(cwd, values['project-dir'] ?? '.');
  if (!lstatOf(projectDir)) {
    throw new RalphError('no-project', `the project folder ${projectDir} does not exist`, {
      remedy: `mkdir -p '${projectDir}'`,
    });
  }
  return { projectDir, paths: prdPaths(ralphDirOf(cwd, projectDir, values['ralph-dir']), projectDir) };
}

/** Resolves a path as the shell does; from the project only if nothing is there. */
function ralphDirOf(cwd: string, projectDir: string, ralphDir: string | undefined): string {
  if (ralphDir === undefined) return resolve(projectDir, 'ralph');
  const fromHere = resolve(cwd, ralphDir);
  const fromProject = resolve(projectDir, ralphDir);
  return !lstatOf(fromHere) && lstatOf(fromProject) ? fromProject : fromHere;
}

/** Opens the task list of a PRD. Throws an error with all problems if it cannot be used. */
export function openTasks(paths: PrdPaths): ValidTasks {
  const file = readTasksFile(paths);
  if (!file.ok && file.text === null && !lstatOf(paths.tasks)) {
    throw new RalphError('no-prd', `there is no task list here: ${paths.tasks} does not exist`, {
      remedy: 'ralph prd init',
    });
  }
  if (!file.ok) throw unusable([{ rule: 'schema', text: file.problem }], paths.tasks);
  const list = readTasks(file.value);
  if (!list.ok) throw unusable(list.problems, paths.tasks, isBlank(file.value) ? planCommand : undefined);
  return { text: file.text, tasks: list.tasks };
}

/** Throws if a loop over this PRD cannot start. */
export function checkStart(tasks: TaskList, rules: ReviewRules, paths: PrdPaths): void {
  if (tasks.userStories.length === 0) {
    throw new RalphError('no-stories', `${paths.tasks} has no stories yet`, { remedy: planCommand });
  }
  const prompt = readText(paths.prompt, { root: paths.top });
  if (prompt === null || prompt.trim() === '') {
    throw new RalphError('no-prompt', `${paths.prompt} ${prompt === null ? 'does not exist' : 'is empty'}`, {
      remedy: 'ralph prd init',
    });
  }
  if (rules.skipReview) return;
  const problems = checkInvariants(tasks, rules);
  const hasUnreviewed = tasks.userStories.some(({ passes, reviewStatus }) => passes && reviewStatus === null);
  const remedy = hasUnreviewed
    ? 'ralph prd run --skip-review, if it is worked off without reviews'
    : undefined;
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

/** Throws if another loop works on this project, also one of another program: a living owner of the marker keeps it. */
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

/** True for the template of `ralph prd init` that nobody has filled in. */
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
