import { join, relative } from 'node:path';
import type { Check } from '../../core/evidence.ts';
import { checkInvariants } from '../../core/review/invariants.ts';
import { countTasks, type NextStep, nextStep } from '../../core/review/mode.ts';
import { type ReviewRules, snapshotOf, type TaskList, type TaskProblem } from '../../core/review/story.ts';
import { checkBetween, removed } from '../../core/review/transitions.ts';
import type { TurnEnd } from '../../core/turn.ts';
import type { EventBody } from '../../journal/events.ts';
import { lstatOf, reclaimDir, writeAtomic } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import { uncommittedChanges } from '../../os/git/uncommitted.ts';
import type { Inspection, LoopKind, Recorder } from '../process/loop-kind.ts';
import { commitChecks, evidenceOf, listChecks, progressChecks, steeringChecks } from './checks.ts';
import { changedInstructions, type InstructionMarks, markInstructions } from './instructions.ts';
import { beforeName } from './last-run.ts';
import { changesSince, type PrdMemory, remembered } from './memory.ts';
import { aboutLine, checkedEvent, storyStates } from './prd-events.ts';
import { type IterationFacts, iterationPrompt } from './prompt.ts';
import { type ActivePayload, removeActive, writeActive } from './ralph-active.ts';
import {
  type FileSnapshot,
  type RestoreFolders,
  removeNewRepository,
  repairHead,
  restoreFile,
  snapshotFiles,
} from './restore-files.ts';
import { ownFiles, type PrdPaths, putBack, readTasksFile } from './tasks.ts';
import { checkTurn, illegalOf, isIllegal, readValidTasks, type ValidTasks } from './turn-check.ts';

export type PrdLoopOptions = {
  readonly projectDir: string;
  readonly paths: PrdPaths;
  readonly rules: ReviewRules;
  readonly maxIterations: number;
  readonly mode: ActivePayload['mode'];
  /** Folder for rejected task lists. */
  readonly rejectedFolder: string;
  /** The agent has to commit its work itself. */
  readonly agentCommits: boolean;
  /** The top of the repository, in which progress is a new commit; without one it is any change. */
  readonly gitTop: string | null;
  readonly now: number;
  readonly memory: PrdMemory | null;
  remember(memory: PrdMemory): void;
  /** Prints a line at the end of the run, where people look. */
  tellAtEnd(line: string): void;
  /** Waits until files that were written in the sandbox can be read here. */
  settle?(): Promise<void>;
};

/** Variables that tell the agent's hooks the folder of the PRD, and its repository. */
export const prdFolder = 'RALPH_PRD_DIR';
export const prdRepository = 'RALPH_PRD_GIT';

/** State of a PRD loop between the steps of an iteration. */
type PrdLoopState = {
  /** Task list that the next turn starts from. */
  list: ValidTasks;
  step: NextStep;
  files: FileSnapshot;
  /** Commit that the iteration started on. */
  start: string | null;
  memory: PrdMemory;
};

type TurnFacts = { readonly iteration: number; readonly end: TurnEnd; readonly record: Recorder };

/** Creates the loop over a PRD: gives each iteration its mode, and checks its changes to the task list. */
export function prdLoop(options: PrdLoopOptions, first: ValidTasks): LoopKind {
  const { projectDir, paths, rules, gitTop } = options;
  const hadRepository = lstatOf(join(paths.root, '.git')) !== null;
  const state: PrdLoopState = {
    list: first,
    step: nextStep(first.tasks, rules),
    files: snapshotFiles(paths),
    start: null,
    memory: remembered(options.memory, first.tasks),
  };
  return {
    env: { [prdFolder]: paths.root, ...(gitTop === null ? {} : { [prdRepository]: gitTop }) },
    traced: true,
    plainText: true,
    resumesSession: false,
    prepare(iteration, task, head) {
      const edits = startIteration(options, state, head);
      return {
        task: iterationPrompt(task, promptFacts(options, state, iteration)),
        events: [...edits, iterationEvent(state, rules, iteration)],
      };
    },
    progressOf: (changes) => (gitTop === null ? changes : { ...changes, filesChanged: 0 }),
    inspect: (iteration, end, record) =>
      inspectTurn(options, state, { iteration, end, record }, hadRepository),
    close: () => removeActive(projectDir),
  };
}

/** Takes a snapshot of the PRD and writes the marker of the loop; returns events about edits since the last turn. */
function startIteration(options: PrdLoopOptions, state: PrdLoopState, head: string | null): EventBody[] {
  const { projectDir, paths, rules, rejectedFolder } = options;
  reclaimDir(rejectedFolder, projectDir);
  const edits = takeEdits(options, state);
  state.step = nextStep(state.list.tasks, rules);
  state.files = snapshotFiles(paths);
  state.start = head;
  rememberInstructions(options, state);
  remember(options, state);
  writeAtomic(join(rejectedFolder, beforeName), state.list.text, { fsync: false });
  writeActive(projectDir, {
    timestamp: new Date(options.now).toISOString().replace(/\.\d+Z$/, 'Z'),
    pid: process.pid,
    max_iterations: options.maxIterations,
    mode: options.mode,
    skipReview: rules.skipReview,
    reviewCap: rules.reviewCap,
    iterationMode: state.step.mode,
    preIterationSnapshot: snapshotOf(state.list.tasks),
  });
  return edits;
}

/** Accepts edits of a person since the last turn. Puts the list back if they break its rules or approve a story. */
function takeEdits({ paths, rules, rejectedFolder }: PrdLoopOptions, state: PrdLoopState): EventBody[] {
  const { list } = state;
  const edits = readValidTasks(paths);
  if (edits && (edits.text === list.text || editProblems(edits.tasks, list, rules).length === 0)) {
    state.list = edits;
    return [];
  }
  putBack(paths.tasks, list.text, paths.top, rejectedFolder);
  const text =
    'tasks.json was changed between two iterations in a way that breaks its rules, and was put back';
  return [{ type: 'notice', text }];
}

function remember(options: PrdLoopOptions, state: PrdLoopState): void {
  state.memory = remembered(state.memory, state.list.tasks);
  options.remember(state.memory);
}

/** Remembers the instruction files as they are before the first work on a story, for its reviewers. */
function rememberInstructions(options: PrdLoopOptions, state: PrdLoopState): void {
  const { mode, story } = state.step;
  if (mode !== 'implement' || story === null || state.memory.instructions?.story === story.id) return;
  state.memory = { ...state.memory, instructions: { story: story.id, marks: instructionsNow(options) } };
}

function instructionsNow({ projectDir, paths, gitTop }: PrdLoopOptions): InstructionMarks {
  const top = realPath(gitTop ?? projectDir);
  return markInstructions(top, relative(top, realPath(paths.progress)));
}

function promptFacts(
  options: PrdLoopOptions,
  { step, memory, list }: PrdLoopState,
  iteration: number,
): IterationFacts {
  const { maxIterations, rules } = options;
  const reviews = step.mode === 'review' && step.story;
  const changes = reviews ? changesSince(memory, list.tasks, reviews) : [];
  const before = reviews && memory.instructions?.story === reviews.id ? memory.instructions.marks : null;
  const instructions = before ? changedInstructions(before, instructionsNow(options)) : [];
  return { iteration, maxIterations, step, rules, changes, instructions };
}

function iterationEvent({ step, list }: PrdLoopState, rules: ReviewRules, iteration: number): EventBody {
  return {
    type: 'prd.iteration',
    iteration,
    ...workOf(step),
    counts: countTasks(list.tasks),
    stories: storyStates(list.tasks),
    about: aboutLine(list.tasks),
    rules,
  };
}

function workOf({ mode, story }: NextStep) {
  return { mode, story: story?.id ?? null };
}

/** Checks what a turn made of the PRD, and undoes what it may not change. */
async function inspectTurn(
  options: PrdLoopOptions,
  state: PrdLoopState,
  { iteration, end, record }: TurnFacts,
  hadRepository: boolean,
): Promise<Inspection> {
  const { projectDir, paths, rules, rejectedFolder } = options;
  const folders: RestoreFolders = { projectDir, top: paths.top, aside: rejectedFolder };
  const { step } = state;
  const before = state.list.tasks;
  await options.settle?.();
  const file = readTasksFile(paths);
  const { tasks, problems: all } = checkTurn(file, before, workOf(step), rules);
  const illegal = illegalOf(all);
  const problems = end === 'finished' ? all : illegal;
  const undone = illegal.length > 0;
  const { steering, progress } = state.files.changes();
  const list = undone ? [{ path: paths.tasks, text: state.list.text, rejected: file.text }] : [];
  for (const change of [...list, ...steering, ...progress]) restoreFile(change, iteration, folders);
  if (!undone && file.ok && tasks) state.list = { text: file.text, tasks };
  const steeringNames = steering.map(({ path }) => relative(projectDir, path));
  const restoredNames = [
    ...steeringNames,
    ...progress.map(({ path }) => relative(projectDir, path)),
    ...(hadRepository ? [] : removeNewRepository(paths, folders)),
  ];
  const committed = await repairCommit(options, state, { before, undone, record });
  if (restoredNames.length > 0) {
    record({ type: 'notice', text: `changed during the turn and put back: ${restoredNames.join(', ')}` });
  }
  remember(options, state);
  const turn = { iteration, mode: step.mode, ok: problems.length === 0, undone };
  const event = checkedEvent(turn, problems, state.list.tasks, rules);
  record(event);
  const { complete } = event;
  return {
    checks: [
      ...listChecks(problems, undone, step, rules),
      ...(complete ? [] : [...steeringChecks(steeringNames), ...progressChecks(progress.length > 0)]),
      ...(end === 'finished' && !complete ? await uncommittedChecks(options) : []),
    ],
    evidence: [evidenceOf(state.list.tasks, rules)],
    done: complete,
    committed,
  };
}

/** Corrects the files of the PRD in the last commit; true if that took a commit. */
async function repairCommit(
  { paths, rules, gitTop, rejectedFolder, tellAtEnd }: PrdLoopOptions,
  { step, list, files, start }: PrdLoopState,
  turn: { readonly before: TaskList; readonly undone: boolean; readonly record: Recorder },
): Promise<boolean> {
  if (gitTop === null) return false;
  const isWrong = (text: string | null) => turn.undone || isIllegal(text, turn.before, workOf(step), rules);
  const tasks = { path: paths.tasks, text: list.text, isWrong };
  const scratch = join(rejectedFolder, 'undo.index');
  const { committed, problem } = await repairHead(
    { top: gitTop, start },
    [tasks, ...files.committed()],
    scratch,
  );
  if (problem !== null) {
    turn.record({ type: 'notice', text: problem });
    tellAtEnd(problem);
  }
  return committed;
}

async function uncommittedChecks({ projectDir, paths, ...options }: PrdLoopOptions): Promise<Check[]> {
  if (!options.agentCommits) return [];
  const query = { own: ownFiles(projectDir, paths), since: options.now, top: options.gitTop };
  return commitChecks(await uncommittedChanges(projectDir, query));
}

function editProblems(tasks: TaskList, list: ValidTasks, rules: ReviewRules): TaskProblem[] {
  const before = snapshotOf(list.tasks);
  if (rules.skipReview) return removed(before, tasks.userStories, 'implement');
  return [...checkInvariants(tasks, rules), ...checkBetween(tasks, before)];
}
