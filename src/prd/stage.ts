import { join, relative } from 'node:path';
import type { Check } from '../core/evidence.ts';
import { problemLine } from '../core/review/check.ts';
import { commitWords } from '../core/review/commit-words.ts';
import { checkInvariants } from '../core/review/invariants.ts';
import { countTasks, isComplete, type NextStep, nextStep } from '../core/review/mode.ts';
import { readTasks } from '../core/review/read-tasks.ts';
import {
  type ReviewRules,
  type Story,
  snapshotOf,
  type TaskList,
  type TaskProblem,
} from '../core/review/story.ts';
import { checkBetween, removed } from '../core/review/transitions.ts';
import type { Progress } from '../core/turn.ts';
import type { Inspected, Stage } from '../loop/run-spec.ts';
import type { EventBody } from '../store/events.ts';
import { type ActivePayload, removeActive, writeActive } from '../store/ralph-active.ts';
import { type prdPaths, readTasksFile, restoreTasks } from '../store/tasks.ts';
import { ensureDir, writeAtomic } from '../system/files.ts';
import { uncommittedChanges } from '../system/git.ts';
import { beforeName } from './last-run.ts';
import { iterationPrompt } from './prompt.ts';
import { storiesOf } from './stories.ts';
import { checkTurn, type Held } from './turn-check.ts';
import { commitUndone, textOf, type Undo, undo } from './undo.ts';
import { claimFeedback, undoneFeedback } from './words.ts';

export type PrdStageOptions = {
  readonly projectDir: string;
  readonly paths: ReturnType<typeof prdPaths>;
  readonly rules: ReviewRules;
  readonly maxIterations: number;
  readonly mode: ActivePayload['mode'];
  /** Where a task list that was turned down is kept. */
  readonly rejectedFolder: string;
  /** The agent has to commit its work itself. */
  readonly agentCommits: boolean;
  /** Progress is a new commit; without git it is any change. */
  readonly hasGit: boolean;
  readonly now: number;
  /** Waits until files that were written in the sandbox can be read here. */
  settle?(): Promise<void>;
};

/** Tells the hooks of the agent where the PRD is. */
export const prdFolder = 'RALPH_PRD_DIR';

/** The loop over a PRD: each iteration gets its mode and a snapshot, and what it made of the task list is checked. */
export function prdStage(options: PrdStageOptions, first: Held): Stage {
  const { projectDir, paths, rules, maxIterations } = options;
  let held = first;
  let step: NextStep = nextStep(held.tasks, rules);
  /** Texts that steer the agents: what one of them makes of them is not for the next one to read. */
  let steering: { readonly path: string; readonly text: string }[] = [];
  const criteria = new Map<string, Story>();

  /** Whatever happened since the last turn: a person may have edited the list, but nobody approves a story then. */
  function takeEdits(): EventBody[] {
    const file = readTasksFile(paths.tasks);
    if (file.ok && file.text === held.text) return [];
    const read = file.ok ? readTasks(file.value) : null;
    if (file.ok && read?.ok && editProblems(read.tasks, held, rules).length === 0) {
      held = { text: file.text, tasks: read.tasks };
      return [];
    }
    restoreTasks(paths.tasks, held.text);
    const text =
      'tasks.json was changed between two iterations in a way that breaks its rules, and was put back';
    return [{ type: 'notice', text }];
  }

  return {
    env: { [prdFolder]: paths.root },
    prepare(iteration, task) {
      const edits = takeEdits();
      step = nextStep(held.tasks, rules);
      steering = [paths.prompt, paths.prd].flatMap((path) => {
        const text = textOf(path);
        return text === null ? [] : [{ path, text }];
      });
      for (const story of held.tasks.userStories) if (!criteria.has(story.id)) criteria.set(story.id, story);
      ensureDir(options.rejectedFolder);
      writeAtomic(join(options.rejectedFolder, beforeName), held.text, { fsync: false });
      writeActive(projectDir, {
        timestamp: new Date(options.now).toISOString().replace(/\.\d+Z$/, 'Z'),
        pid: process.pid,
        max_iterations: maxIterations,
        mode: options.mode,
        skipReview: rules.skipReview,
        reviewCap: rules.reviewCap,
        iterationMode: step.mode,
        preIterationSnapshot: snapshotOf(held.tasks),
      });
      const began: EventBody = {
        type: 'prd.iteration',
        iteration,
        mode: step.mode,
        story: step.story?.id ?? null,
        counts: countTasks(held.tasks),
        stories: storiesOf(held.tasks),
        rules,
      };
      const first = step.story && (criteria.get(step.story.id) ?? null);
      return {
        task: iterationPrompt(task, { iteration, maxIterations, step, rules, first }),
        events: [...edits, began],
      };
    },
    progressOf: (changed: Progress) => (options.hasGit ? { ...changed, filesChanged: 0 } : changed),
    async inspect(iteration, end, record): Promise<Inspected> {
      const { mode } = step;
      await options.settle?.();
      const file = readTasksFile(paths.tasks);
      const checked = checkTurn(file, held.tasks, { mode, story: step.story?.id ?? null }, rules);
      const illegal = checked.problems.filter(({ omission }) => !omission);
      const problems = end === 'finished' ? checked.problems : illegal;
      const undone = illegal.length > 0;
      const changes: Undo[] = steering
        .map((each) => ({ ...each, found: textOf(each.path) }))
        .filter(({ text, found }) => text !== found);
      const steered = changes.map(({ path }) => relative(projectDir, path));
      if (undone) changes.push({ path: paths.tasks, text: held.text, found: file.text });
      for (const change of changes) undo(change, iteration, options.rejectedFolder);
      const committed = options.hasGit && (await commitUndone(projectDir, changes));
      if (steered.length > 0) {
        record({ type: 'notice', text: `changed during the turn and put back: ${steered.join(', ')}` });
      }
      if (!undone && file.ok && checked.tasks) held = { text: file.text, tasks: checked.tasks };
      const complete = isComplete(held.tasks, rules);
      record({
        type: 'prd.checked',
        iteration,
        mode,
        ok: problems.length === 0,
        problems: problems.map(problemLine),
        undone,
        complete,
        counts: countTasks(held.tasks),
        stories: storiesOf(held.tasks),
      });
      const dirty =
        end === 'finished' && !complete && options.agentCommits ? await uncommittedChanges(projectDir) : null;
      return {
        checks: [
          ...listChecks(problems, undone, step, rules),
          ...(complete ? [] : steeringChecks(steered)),
          ...commitChecks(dirty ?? []),
        ],
        evidence: evidenceOf(held.tasks, rules),
        done: complete,
        committed,
      };
    },
    close: () => removeActive(projectDir),
  };
}

function editProblems(tasks: TaskList, held: Held, rules: ReviewRules): TaskProblem[] {
  const before = snapshotOf(held.tasks);
  if (rules.skipReview) return removed(before, tasks.userStories, 'implement');
  return [...checkInvariants(tasks, rules), ...checkBetween(tasks, before)];
}

function listChecks(
  problems: readonly TaskProblem[],
  undone: boolean,
  step: NextStep,
  rules: ReviewRules,
): Check[] {
  if (problems.length === 0) return [];
  // The sentences were told with the check itself.
  const detail = [...new Set(problems.map(({ rule, text }) => (rule === 'schema' ? text : rule)))].join(', ');
  const text = undoneFeedback(problems, undone, step, rules);
  return [{ check: 'task-list', ok: false, detail, feedback: { action: 'APPEND', text } }];
}

function steeringChecks(changed: readonly string[]): Check[] {
  if (changed.length === 0) return [];
  const list = changed.join(', ');
  const text = `The last iteration changed ${list}. That is for people to do: it was put back. Leave it alone; what later iterations have to know belongs in progress.txt.`;
  return [{ check: 'steering', ok: false, detail: `changed: ${list}`, feedback: { action: 'APPEND', text } }];
}

function commitChecks(dirty: readonly string[]): Check[] {
  if (dirty.length === 0) return [];
  const detail = `${dirty.length} uncommitted change${dirty.length === 1 ? '' : 's'}`;
  return [
    {
      check: 'commit',
      ok: false,
      detail,
      feedback: {
        action: 'APPEND',
        text: commitWords('The last iteration left uncommitted changes:', dirty),
      },
    },
  ];
}

function evidenceOf(tasks: TaskList, rules: ReviewRules): Check {
  const { done, total } = countTasks(tasks);
  const detail = `${done} of ${total} stories are done`;
  if (isComplete(tasks, rules)) return { check: 'tasks', ok: true, detail };
  return {
    check: 'tasks',
    ok: false,
    detail,
    feedback: { action: 'APPEND', text: claimFeedback(tasks, rules) },
  };
}
