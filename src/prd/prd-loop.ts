import { join, relative } from 'node:path';
import { checkInvariants } from '../core/review/invariants.ts';
import { countTasks, type NextStep, nextStep } from '../core/review/mode.ts';
import { type ReviewRules, snapshotOf, type TaskList, type TaskProblem } from '../core/review/story.ts';
import { checkBetween, removed } from '../core/review/transitions.ts';
import type { Progress } from '../core/turn.ts';
import type { Inspection, LoopKind, Recorder } from '../loop/loop-kind.ts';
import type { EventBody } from '../store/events.ts';
import type { PrdMemory } from '../store/prd-memory.ts';
import { type ActivePayload, removeActive, writeActive } from '../store/ralph-active.ts';
import { ownFiles, type PrdPaths, putBack, readTasksFile } from '../store/tasks.ts';
import { lstatOf, reclaimDir, writeAtomic } from '../system/files.ts';
import { type Uncommitted, uncommittedChanges } from '../system/uncommitted.ts';
import { commitChecks, evidenceOf, listChecks, progressChecks, steeringChecks } from './checks.ts';
import { holdTexts, unmakeRepository } from './held-texts.ts';
import { beforeName } from './last-run.ts';
import { changesSince, remembered } from './memory.ts';
import { iterationPrompt } from './prompt.ts';
import { aboutOf, listChecked, storiesOf } from './stories.ts';
import { checkTurn, type Held, illegalOf, isIllegal, readHeld } from './turn-check.ts';
import { mendHead, type Room, undo } from './undo.ts';

export type PrdLoopOptions = {
  readonly projectDir: string;
  readonly paths: PrdPaths;
  readonly rules: ReviewRules;
  readonly maxIterations: number;
  readonly mode: ActivePayload['mode'];
  /** Where a task list that was turned down is kept. */
  readonly rejectedFolder: string;
  /** The agent has to commit its work itself. */
  readonly agentCommits: boolean;
  /** The top of the repository, in which progress is a new commit; without one it is any change. */
  readonly gitTop: string | null;
  readonly now: number;
  readonly memory: PrdMemory | null;
  remember(memory: PrdMemory): void;
  /** A line for the end of the run, since nobody may have seen it pass by. */
  tellAtEnd(line: string): void;
  /** Waits until files that were written in the sandbox can be read here. */
  settle?(): Promise<void>;
};

/** Tell the hooks of the agent where the PRD is, and the repository that it is in. */
export const prdFolder = 'RALPH_PRD_DIR';
export const prdRepository = 'RALPH_PRD_GIT';

/** The loop over a PRD: each iteration gets its mode and a snapshot, and what it made of the task list is checked. */
export function prdLoop(options: PrdLoopOptions, first: Held): LoopKind {
  const { projectDir, paths, rules, maxIterations, gitTop, rejectedFolder } = options;
  const room: Room = { projectDir, top: paths.top, aside: rejectedFolder };
  const hadRepository = lstatOf(join(paths.root, '.git')) !== null;
  let held = first;
  let step: NextStep = nextStep(held.tasks, rules);
  let texts = holdTexts(paths);
  let start: string | null = null;
  let memory = remembered(options.memory, held.tasks);

  function remember(): void {
    memory = remembered(memory, held.tasks);
    options.remember(memory);
  }

  /** Whatever happened since the last turn: a person may have edited the list, but nobody approves a story then. */
  function takeEdits(): EventBody[] {
    const edited = readHeld(paths);
    if (edited && (edited.text === held.text || editProblems(edited.tasks, held, rules).length === 0)) {
      held = edited;
      return [];
    }
    putBack(paths.tasks, held.text, paths.top, rejectedFolder);
    const text =
      'tasks.json was changed between two iterations in a way that breaks its rules, and was put back';
    return [{ type: 'notice', text }];
  }

  /** Puts right what the last commit has of the PRD; true when that took a commit. */
  async function mendCommit(before: TaskList, undone: boolean, record: Recorder): Promise<boolean> {
    if (gitTop === null) return false;
    const worked = { mode: step.mode, story: step.story?.id ?? null };
    const tasks = {
      path: paths.tasks,
      text: held.text,
      ...(undone ? {} : { isWrong: (text: string | null) => isIllegal(text, before, worked, rules) }),
    };
    const scratch = join(rejectedFolder, 'undo.index');
    const mended = await mendHead({ top: gitTop, start }, [tasks, ...texts.committed()], scratch);
    if (mended.problem !== null) {
      record({ type: 'notice', text: mended.problem });
      options.tellAtEnd(mended.problem);
    }
    return mended.committed;
  }

  return {
    env: { [prdFolder]: paths.root, ...(gitTop === null ? {} : { [prdRepository]: gitTop }) },
    traced: true,
    plainText: true,
    resumesSession: false,
    prepare(iteration, task, head) {
      reclaimDir(rejectedFolder, projectDir);
      const edits = takeEdits();
      step = nextStep(held.tasks, rules);
      texts = holdTexts(paths);
      start = head;
      remember();
      writeAtomic(join(rejectedFolder, beforeName), held.text, { fsync: false });
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
        about: aboutOf(held.tasks),
        rules,
      };
      const changes =
        step.story && step.mode === 'review' ? changesSince(memory, held.tasks, step.story) : [];
      return {
        task: iterationPrompt(task, { iteration, maxIterations, step, rules, changes }),
        events: [...edits, began],
      };
    },
    progressOf: (changed: Progress) => (gitTop === null ? changed : { ...changed, filesChanged: 0 }),
    async inspect(iteration, end, record): Promise<Inspection> {
      const { mode } = step;
      const before = held.tasks;
      await options.settle?.();
      const file = readTasksFile(paths);
      const checked = checkTurn(file, before, { mode, story: step.story?.id ?? null }, rules);
      const illegal = illegalOf(checked.problems);
      const problems = end === 'finished' ? checked.problems : illegal;
      const undone = illegal.length > 0;
      const { steering, progress } = texts.changes();
      const list = undone ? [{ path: paths.tasks, text: held.text, found: file.text }] : [];
      for (const change of [...list, ...steering, ...progress]) undo(change, iteration, room);
      if (!undone && file.ok && checked.tasks) held = { text: file.text, tasks: checked.tasks };
      const steered = steering.map(({ path }) => relative(projectDir, path));
      const restored = [
        ...steered,
        ...progress.map(({ path }) => relative(projectDir, path)),
        ...unmakeRepository(paths, hadRepository, room),
      ];
      const committed = await mendCommit(before, undone, record);
      if (restored.length > 0) {
        record({ type: 'notice', text: `changed during the turn and put back: ${restored.join(', ')}` });
      }
      remember();
      const event = listChecked(
        { iteration, mode, ok: problems.length === 0, undone },
        problems,
        held.tasks,
        rules,
      );
      record(event);
      const { complete } = event;
      const query = { own: ownFiles(projectDir, paths), since: options.now, top: gitTop };
      const asks = end === 'finished' && !complete && options.agentCommits;
      const left: Uncommitted | null = asks ? await uncommittedChanges(projectDir, query) : null;
      return {
        checks: [
          ...listChecks(problems, undone, step, rules),
          ...(complete ? [] : [...steeringChecks(steered), ...progressChecks(progress.length > 0)]),
          ...(left ? commitChecks(left) : []),
        ],
        evidence: [evidenceOf(held.tasks, rules)],
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
