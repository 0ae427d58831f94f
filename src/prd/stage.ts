import { join } from 'node:path';
import type { Check } from '../core/evidence.ts';
import { checkTasks, problemLine, type TasksChecked } from '../core/review/check.ts';
import { commitWords } from '../core/review/commit-words.ts';
import { checkInvariants } from '../core/review/invariants.ts';
import { countTasks, isComplete, type NextStep, nextStep } from '../core/review/mode.ts';
import { readTasks } from '../core/review/read-tasks.ts';
import { type ReviewRules, snapshotOf, type TaskList, type TaskProblem } from '../core/review/story.ts';
import { checkBetween, removed } from '../core/review/transitions.ts';
import type { Progress } from '../core/turn.ts';
import type { Inspected, Stage } from '../loop/run-spec.ts';
import type { EventBody, StoryState } from '../store/events.ts';
import { type ActivePayload, removeActive, writeActive } from '../store/ralph-active.ts';
import { type prdPaths, readTasksFile, restoreTasks, type TasksFile } from '../store/tasks.ts';
import { ensureDir, writeAtomic } from '../system/files.ts';
import { uncommittedChanges } from '../system/git.ts';
import { iterationPrompt } from './prompt.ts';
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

/** A task list that holds: the text of the file and what it says. */
type Held = { readonly text: string; readonly tasks: TaskList };

/** The loop over a PRD: each iteration gets its mode and a snapshot, and what it made of the task list is checked. */
export function prdStage(options: PrdStageOptions, first: Held): Stage {
  const { projectDir, paths, rules, maxIterations } = options;
  let held = first;
  let begun = false;
  let step: NextStep = nextStep(held.tasks, rules);

  /** Whatever happened since the last turn: a person may have edited the list, but nobody approves a story then. */
  function takeEdits(): EventBody[] {
    const file = readTasksFile(paths.tasks);
    if (file.ok && file.text === held.text) return [];
    const read = file.ok ? readTasks(file.value) : null;
    if (file.ok && read?.ok && editProblems(read.tasks, begun ? held : null, rules).length === 0) {
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
      begun = true;
      step = nextStep(held.tasks, rules);
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
      };
      return {
        task: iterationPrompt(task, { iteration, maxIterations, step, rules }),
        events: [...edits, began],
      };
    },
    progressOf: (changed: Progress) => (options.hasGit ? { ...changed, filesChanged: 0 } : changed),
    async inspect(iteration, end, record): Promise<Inspected> {
      const { mode } = step;
      await options.settle?.();
      const file = readTasksFile(paths.tasks);
      const checked = checkFile(file, held, mode, rules);
      const illegal = checked.problems.filter(({ omission }) => !omission);
      const problems = end === 'finished' ? checked.problems : illegal;
      const undone = illegal.length > 0;
      if (undone) {
        keepRejected(options.rejectedFolder, iteration, file.text);
        restoreTasks(paths.tasks, held.text);
      } else if (file.ok && checked.tasks) held = { text: file.text, tasks: checked.tasks };
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
        checks: [...listChecks(problems, undone, step, rules), ...commitChecks(dirty ?? [])],
        evidence: evidenceOf(held.tasks, rules),
        done: complete,
      };
    },
    close: () => removeActive(projectDir, process.pid),
  };
}

function checkFile(file: TasksFile, held: Held, mode: NextStep['mode'], rules: ReviewRules): TasksChecked {
  if (!file.ok) return { tasks: null, problems: [{ rule: 'schema', text: file.problem }] };
  const snapshot = snapshotOf(held.tasks);
  const checked = checkTasks(file.value, { ...rules, iteration: { mode, snapshot } });
  if (!rules.skipReview || checked.tasks === null) return checked;
  return {
    ...checked,
    problems: [...checked.problems, ...removed(snapshot, checked.tasks.userStories, mode)],
  };
}

/** `held` is null before the first iteration: until then anybody may have finished something. */
function editProblems(tasks: TaskList, held: Held | null, rules: ReviewRules): TaskProblem[] {
  if (rules.skipReview) return [];
  const since = held === null ? [] : checkBetween(tasks, snapshotOf(held.tasks));
  return [...checkInvariants(tasks, rules), ...since];
}

function keepRejected(folder: string, iteration: number, text: string | null): void {
  if (text === null) return;
  ensureDir(folder);
  writeAtomic(join(folder, `${String(iteration).padStart(3, '0')}.tasks.json`), text, { fsync: false });
}

function listChecks(
  problems: readonly TaskProblem[],
  undone: boolean,
  step: NextStep,
  rules: ReviewRules,
): Check[] {
  if (problems.length === 0) return [];
  const detail = problems.map(problemLine).join(' ');
  const text = undoneFeedback(problems, undone, step, rules);
  return [{ check: 'task-list', ok: false, detail, feedback: { action: 'APPEND', text } }];
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

function storiesOf({ userStories }: TaskList): StoryState[] {
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
