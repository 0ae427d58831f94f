import { join, relative } from 'node:path';
import type { Check } from '../../core/evidence.ts';
import { checkInvariants } from '../../core/review/invariants.ts';
import { countTasks, type NextStep, nextStep } from '../../core/review/mode.ts';
import { type ReviewRules, snapshotOf, type TaskList, type TaskProblem } from '../../core/review/story.ts';
import { checkBetween, removed } from '../../core/review/transitions.ts';
import type { EventBody } from '../../journal/events.ts';
import { lstatOf, reclaimDir, writeAtomic } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import { uncommittedChanges } from '../../os/git/uncommitted.ts';
import type { Inspection, LoopKind, Recorder, TurnToInspect } from '../process/loop-kind.ts';
import { commitChecks, evidenceOf, listChecks, progressChecks, steeringChecks } from './checks.ts';
import { changedInstructions, type InstructionMarks, markInstructions } from './instructions.ts';
import { beforeName } from './last-run.ts';
import { changesSince, type PrdMemory, remembered } from './memory.ts';
import { aboutLine, checkedEvent, storyStates } from './prd-events.ts';
import { iterationPrompt } from './prompt.ts';
import { type ActivePayload, removeActive, writeActive } from './ralph-active.ts';
import {
  type FileSnapshot,
  type RestoreFolders,
  removeNewRepository,
  restoreFile,
  snapshotFiles,
} from './restore-files.ts';
import { type PrdTurn, repairCommit, settleTasks } from './settle-turn.ts';
import { ownFiles, type PrdPlace, putBack } from './tasks.ts';
import { readValidTasks, type ValidTasks } from './turn-check.ts';

export type PrdLoopOptions = PrdPlace & {
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

type PrdLoopState = {
  /** Task list that the next turn starts from. */
  list: ValidTasks;
  step: NextStep;
  files: FileSnapshot;
  /** True if the folder of the PRD was a repository of its own from the start. */
  readonly hadRepository: boolean;
  start: string | null;
  memory: PrdMemory;
};

/** Creates the loop over a PRD: gives each iteration its mode, and checks its changes to the task list. */
export function prdLoop(options: PrdLoopOptions, first: ValidTasks): LoopKind {
  const { projectDir, paths, rules, gitTop } = options;
  const state: PrdLoopState = {
    list: first,
    step: nextStep(first.tasks, rules),
    files: snapshotFiles(paths),
    hadRepository: lstatOf(join(paths.root, '.git')) !== null,
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
    inspect: (turn, record) => inspectTurn(options, state, turn, record),
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

function promptFacts(options: PrdLoopOptions, { step, memory, list }: PrdLoopState, iteration: number) {
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
  { iteration, end, progress }: TurnToInspect,
  record: Recorder,
): Promise<Inspection> {
  const { projectDir, paths, rules, gitTop, rejectedFolder } = options;
  const folders: RestoreFolders = { projectDir, top: paths.top, aside: rejectedFolder };
  const { step, start } = state;
  await options.settle?.();
  const finished = end === 'finished';
  const committed = !options.agentCommits || gitTop === null || progress.commits > 0;
  const turn: PrdTurn = { ...workOf(step), before: state.list, rules, iteration, finished, committed };
  const tasks = settleTasks(turn, paths, folders);
  const { list, problems, undone, approved } = tasks;
  state.list = list;
  const changes = state.files.changes();
  for (const change of [...changes.steering, ...changes.progress]) restoreFile(change, iteration, folders);
  const nameOf = ({ path }: { readonly path: string }) => relative(projectDir, path);
  const steering = changes.steering.map(nameOf);
  const restored = [
    ...steering,
    ...changes.progress.map(nameOf),
    ...(state.hadRepository ? [] : removeNewRepository(paths, folders)),
  ];
  const others = state.files.committed();
  const commit = gitTop === null ? null : { top: gitTop, start, folder: rejectedFolder, others };
  const repair = commit && (await repairCommit(turn, tasks, paths, commit));
  const notices = [
    ...(approved === null ? [] : [`${approved} was approved at the review cap (${rules.reviewCap})`]),
    ...(repair?.problem ? [repair.problem] : []),
    ...(restored.length === 0 ? [] : [`changed during the turn and put back: ${restored.join(', ')}`]),
  ];
  for (const text of notices) record({ type: 'notice', text });
  if (repair?.problem) options.tellAtEnd(repair.problem);
  remember(options, state);
  const event = checkedEvent({ ...turn, ok: problems.length === 0, undone }, problems, list.tasks, rules);
  record(event);
  const { complete } = event;
  return {
    // What was wrong is undone: a list that is complete now counts.
    checks: complete
      ? []
      : [
          ...listChecks(problems, undone, step, rules),
          ...steeringChecks(steering),
          ...progressChecks(changes.progress.length > 0),
          ...(finished ? await uncommittedChecks(options) : []),
        ],
    evidence: [evidenceOf(list.tasks, rules)],
    done: complete,
    committed: repair?.committed ?? false,
  };
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
