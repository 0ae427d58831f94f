import { dirname, join, relative } from 'node:path';
import { projectPaths, runPaths } from '../../config/paths.ts';
import { RalphError } from '../../core/error.ts';
import { checkTasks, problemLine, type TaskRules } from '../../core/review/check.ts';
import { defaultReviewRules, type ReviewRules, snapshotOf, type TaskList } from '../../core/review/story.ts';
import type { EventOf } from '../../journal/events.ts';
import { openJournal } from '../../journal/journal.ts';
import { last, listRuns, newRunId, readRun } from '../../journal/runs.ts';
import type { Clock } from '../../os/clock.ts';
import { lstatOf } from '../../os/files/files.ts';
import { findRepository } from '../../os/git/git.ts';
import type { Environment } from '../../os/process/program.ts';
import { ownWorkingCopy } from '../process/ownership.ts';
import {
  isNextOf,
  isSamePlan,
  keepMemory,
  memoryOf,
  type PrdMemory,
  readMemory,
  remembered,
} from './memory.ts';
import { checkedEvent } from './prd-events.ts';
import { readActive, removeActive } from './ralph-active.ts';
import { activePath } from './ralph-active-path.ts';
import { rejectedName } from './restore-files.ts';
import { repairCommit, type SettledTasks, settleTasks } from './settle-turn.ts';
import { type PrdPaths, type PrdPlace, readTasksFile } from './tasks.ts';
import { illegalOf, readValidTasks, type ValidTasks } from './turn-check.ts';

/** File in the folder of a run: the task list from before its last iteration. */
export const beforeName = 'before.tasks.json';

/** Returns the review rules of the last run on this PRD; null if it had none. */
export function lastRules(place: PrdPlace, tasks: TaskList, memory: PrdMemory | null): ReviewRules | null {
  if (memory === null || !isSamePlan(memory, tasks)) return null;
  const run = lastRun(place);
  return (run && last(run.events, 'prd.iteration')?.rules) ?? null;
}

/**
 * Checks the last iteration of a loop that was killed, and removes its marker, its lock and its processes. Returns lines
 * about what was done.
 */
export async function settleLastRun(place: PrdPlace, clock: Clock, env: Environment): Promise<string[]> {
  const { projectDir } = place;
  const open = brokenOff(place);
  const hasLeftovers = [activePath(projectDir), projectPaths(projectDir).lock].some((path) => lstatOf(path));
  if (open === null && !hasLeftovers) return [];
  const run = newRunId(clock.now());
  const ownership = await ownWorkingCopy(projectDir, findRepository(projectDir), run, clock);
  try {
    if (open === null) checkMarker(place);
    const lines = open === null ? [] : await checkBrokenOff(place, open, clock, env);
    removeActive(projectDir);
    return [
      ...ownership.abandoned.map((run) => `run ${run} had died; what it left running was ended`),
      ...lines,
    ];
  } finally {
    ownership.release();
  }
}

function lastRun({ projectDir, paths }: PrdPlace) {
  const tasks = relative(projectDir, paths.tasks);
  for (const run of listRuns(projectDir).reverse()) {
    const { view, events } = readRun(projectDir, run);
    if (view.tasks === tasks) return { run, events };
  }
  return null;
}

type BrokenOff = NonNullable<ReturnType<typeof brokenOff>>;

/** Returns the last iteration, and the commit that it began on; null if its task list was checked. */
function brokenOff(place: PrdPlace) {
  const { run, events } = lastRun(place) ?? { run: '', events: [] };
  const iteration = last(events, 'prd.iteration');
  const check = last(events, 'prd.checked');
  if (!iteration || (check && check.seq > iteration.seq)) return null;
  return { run, iteration, start: last(events, 'iteration.started')?.head ?? null };
}

/** Checks the task list by a marker without a journal, of another program or of a run whose files are gone. */
function checkMarker({ projectDir, paths }: PrdPlace): void {
  const marker = readActive(projectDir);
  if (marker?.rules.iteration && !marker.rules.skipReview)
    requireLegal(paths, marker.rules, activePath(projectDir));
}

/** Reads a task list whose version before the turn is lost; throws if it breaks the rules. */
function requireLegal(paths: PrdPaths, rules: TaskRules, marker?: string): SettledTasks {
  const file = readTasksFile(paths);
  const { tasks, problems } = file.ok
    ? checkTasks(file.value, rules)
    : { tasks: null, problems: [{ rule: 'schema', text: file.problem }] };
  const illegal = illegalOf(problems);
  if (file.ok && tasks && illegal.length === 0)
    return { list: { text: file.text, tasks }, problems: [], undone: false, approved: null };
  const lines = illegal.slice(0, 5).map((problem) => `\n  ${problemLine(problem)}`);
  const otherwise = marker === undefined ? '' : `; or, if you approved it yourself: rm '${marker}'`;
  throw new RalphError(
    'tasks-invalid',
    `the last loop was killed, ${paths.tasks} has changed in a way that is not allowed, and what it was before is lost:${lines.join('')}`,
    { remedy: `git log -p -- '${paths.tasks}', then put the last good version back${otherwise}` },
  );
}

async function checkBrokenOff(
  { projectDir, paths }: PrdPlace,
  { run, iteration: event, start }: BrokenOff,
  clock: Clock,
  env: Environment,
): Promise<string[]> {
  const { iterations: folder, journal: path } = runPaths(projectDir, run);
  const { iteration, mode, rules = defaultReviewRules } = event;
  const before = tasksBefore(join(folder, beforeName), event);
  const turn = before && { ...event, before, rules, finished: false, committed: true };
  const snapshot = snapshotOf({ userStories: event.stories });
  const tasks = turn
    ? settleTasks(turn, paths, { projectDir, top: paths.top, aside: folder })
    : requireLegal(paths, { ...rules, iteration: { mode, snapshot } });
  const { list, problems, undone } = tasks;
  const top = findRepository(projectDir);
  const repair = turn && top ? await repairCommit(turn, tasks, paths, { top, start, folder }) : null;
  const memory = memoryOf(readMemory(env, paths.tasks), list.tasks);
  if (memory && isNextOf(memory, list.tasks, rules))
    keepMemory(env, paths.tasks, remembered(memory, list.tasks));
  const journal = openJournal(path, () => clock.now());
  journal.append(checkedEvent({ iteration, mode, ok: !undone, undone }, problems, list.tasks, rules));
  // Ends the journal of the dead run.
  journal.append({ type: 'run.abandoned', swept: [] });
  journal.close();
  const failures = repair?.problem ? [repair.problem] : [];
  if (!undone) return failures;
  const rejectedPath = relative(projectDir, join(folder, rejectedName(iteration, paths.tasks)));
  return [
    `iteration ${iteration} of run ${run} was broken off (${mode}), and tasks.json had changed in a way that is not allowed; it was put back, the other version is ${rejectedPath}`,
    ...problems.slice(0, 5).map(problemLine),
    ...failures,
  ];
}

/** Reads the list from before the iteration; null if it is not the one in the journal. */
function tasksBefore(path: string, { stories }: EventOf<'prd.iteration'>): ValidTasks | null {
  const list = readValidTasks({ tasks: path, top: dirname(path) });
  const isSame =
    list && JSON.stringify(snapshotOf(list.tasks)) === JSON.stringify(snapshotOf({ userStories: stories }));
  return isSame ? list : null;
}
