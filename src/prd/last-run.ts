import { dirname, join, relative } from 'node:path';
import { RalphError } from '../core/error.ts';
import { checkTasks, problemLine } from '../core/review/check.ts';
import { defaultReviewRules, type ReviewRules, snapshotOf, type TaskList } from '../core/review/story.ts';
import { ownWorkingCopy } from '../loop/ownership.ts';
import type { EventOf, JournalEvent } from '../store/events.ts';
import { openJournal } from '../store/journal.ts';
import { projectPaths, runPaths } from '../store/paths.ts';
import { keepMemory, type PrdMemory, readMemory } from '../store/prd-memory.ts';
import { readActive, removeActive } from '../store/ralph-active.ts';
import { activePath } from '../store/ralph-active-path.ts';
import { last, listRuns, newRunId, readRun } from '../store/runs.ts';
import { type PrdPaths, readTasksFile } from '../store/tasks.ts';
import type { Clock } from '../system/clock.ts';
import { lstatOf } from '../system/files.ts';
import { findRepository } from '../system/git.ts';
import { isNextOf, isSamePlan, memoryOf, remembered } from './memory.ts';
import { listChecked } from './stories.ts';
import { checkTurn, type Held, illegalOf, isIllegal, readHeld } from './turn-check.ts';
import { mendHead, rejectedName, undo } from './undo.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Place = { readonly projectDir: string; readonly paths: PrdPaths };
type LastRun = { readonly run: string; readonly events: readonly JournalEvent[] };
type BrokenOff = {
  readonly run: string;
  readonly iteration: EventOf<'prd.iteration'>;
  /** The commit that it began on. */
  readonly start: string | null;
};

/** In the folder of a run: the task list as it was before its last iteration. */
export const beforeName = 'before.tasks.json';

/** How reviews were done the last time that this PRD was worked on; null where it never was, whatever was here before. */
export function lastRules(place: Place, tasks: TaskList, memory: PrdMemory | null): ReviewRules | null {
  if (memory === null || !isSamePlan(memory, tasks)) return null;
  const found = lastRun(place);
  return (found && last(found.events, 'prd.iteration')?.rules) ?? null;
}

/**
 * A loop that was killed has checked nothing of what its last iteration did: that is made up for, and its marker, its
 * lock and its processes go. Says what was done.
 */
export async function settleLastRun(place: Place, clock: Clock, env: Environment): Promise<string[]> {
  const { projectDir } = place;
  const open = brokenOff(place);
  const left = [activePath(projectDir), projectPaths(projectDir).lock].some((path) => lstatOf(path));
  if (open === null && !left) return [];
  const owned = await ownWorkingCopy(projectDir, findRepository(projectDir), newRunId(clock.now()), clock);
  try {
    if (open === null) checkMarker(place);
    const told = open === null ? [] : await checkBrokenOff(place, open, clock, env);
    removeActive(projectDir);
    return [...owned.abandoned.map((run) => `run ${run} had died; what it left running was ended`), ...told];
  } finally {
    owned.release();
  }
}

function lastRun({ projectDir, paths }: Place): LastRun | null {
  const tasks = relative(projectDir, paths.tasks);
  for (const run of listRuns(projectDir).reverse()) {
    const { view, events } = readRun(projectDir, run);
    if (view.tasks === tasks) return { run, events };
  }
  return null;
}

function brokenOff(place: Place): BrokenOff | null {
  const found = lastRun(place);
  const iteration = found && last(found.events, 'prd.iteration');
  if (!found || !iteration) return null;
  const checked = last(found.events, 'prd.checked');
  if (checked && checked.seq > iteration.seq) return null;
  return { run: found.run, iteration, start: last(found.events, 'iteration.started')?.head ?? null };
}

/** A marker without a journal, of another program or of a run whose files are gone, still tells what was allowed. */
function checkMarker({ projectDir, paths }: Place): void {
  const marker = readActive(projectDir);
  if (!marker?.rules.iteration || marker.rules.skipReview) return;
  const file = readTasksFile(paths);
  const problems = file.ok
    ? checkTasks(file.value, marker.rules).problems
    : [{ rule: 'schema', text: file.problem }];
  const illegal = illegalOf(problems);
  if (illegal.length > 0) throw cannotUndo(paths.tasks, illegal.map(problemLine), activePath(projectDir));
}

async function checkBrokenOff(
  { projectDir, paths }: Place,
  { run, iteration: event, start }: BrokenOff,
  clock: Clock,
  env: Environment,
): Promise<string[]> {
  const { iterations, journal: path } = runPaths(projectDir, run);
  const { iteration, mode, rules = defaultReviewRules } = event;
  const scratch = join(iterations, 'undo.index');
  const before = heldBefore(join(iterations, beforeName), event);
  const file = readTasksFile(paths);
  const snapshot = snapshotOf({ userStories: event.stories });
  const { tasks, problems } = before
    ? checkTurn(file, before.tasks, event, rules)
    : checkTasks(file.ok ? file.value : null, { ...rules, iteration: { mode, snapshot } });
  const illegal = illegalOf(problems);
  const holds = illegal.length === 0 ? tasks : before?.tasks;
  if (!holds) throw cannotUndo(paths.tasks, illegal.map(problemLine));
  const undone = holds !== tasks;
  if (undone && before) {
    const change = { path: paths.tasks, text: before.text, found: file.text };
    undo(change, iteration, { projectDir, top: paths.top, aside: iterations });
  }
  const top = findRepository(projectDir);
  const text = undone ? before?.text : file.text;
  const isWrong = (committed: string | null) =>
    before !== null && (undone || isIllegal(committed, before.tasks, event, rules));
  const mended =
    top && text ? await mendHead({ top, start }, [{ path: paths.tasks, text, isWrong }], scratch) : null;
  const memory = memoryOf(readMemory(env, paths.tasks), holds);
  if (memory && isNextOf(memory, holds, rules)) keepMemory(env, paths.tasks, remembered(memory, holds));
  const journal = openJournal(path, () => clock.now());
  journal.append(listChecked({ iteration, mode, ok: !undone, undone }, illegal, holds, rules));
  // A journal of a dead run ends with this.
  journal.append({ type: 'run.abandoned', swept: [] });
  journal.close();
  const failed = mended?.problem ? [mended.problem] : [];
  if (!undone) return failed;
  const kept = relative(projectDir, join(iterations, rejectedName(iteration, paths.tasks)));
  return [
    `iteration ${iteration} of run ${run} was broken off (${mode}), and tasks.json had changed in a way that is not allowed; it was put back, the other version is ${kept}`,
    ...illegal.slice(0, 5).map(problemLine),
    ...failed,
  ];
}

/** The list from before the iteration, if it is still the one that the journal speaks of. */
function heldBefore(path: string, { stories }: EventOf<'prd.iteration'>): Held | null {
  const held = readHeld({ tasks: path, top: dirname(path) });
  const isSame =
    held && JSON.stringify(snapshotOf(held.tasks)) === JSON.stringify(snapshotOf({ userStories: stories }));
  return isSame ? held : null;
}

function cannotUndo(path: string, problems: readonly string[], marker?: string): RalphError {
  const lines = problems.slice(0, 5).map((line) => `\n  ${line}`);
  return new RalphError(
    'tasks-invalid',
    `the last loop was killed, ${path} has changed in a way that is not allowed, and what it was before is lost:${lines.join('')}`,
    {
      remedy: `git log -p -- '${path}', then put the last good version back${marker === undefined ? '' : `; or, if you approved it yourself: rm '${marker}'`}`,
    },
  );
}
