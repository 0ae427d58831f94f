import { join } from 'node:path';
import { type Change, pauseLoop, resumeLoop } from '../../fleet/control.ts';
import { endWorker } from '../../fleet/end-worker.ts';
import { readLogLines } from '../../fleet/files/log.ts';
import { type LoopRecord, readLoop, stateOf } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { showStamp, stamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { lstatOf, writeAtomic } from '../../os/files/files.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warn } from './context.ts';
import { readTold, skippedTexts, type Told } from './events.ts';
import { followLoop } from './follow.ts';
import { wantsCluster } from './open-cluster.ts';
import type { clusterOptions, ralphInitOptions, ralphLogsOptions, ralphLsOptions } from './options.ts';
import { tableText } from './table.ts';

/** The prompt that `swarm ralph init` begins a project with: short, so that the context is left for the work. */
const promptTemplate = `study specs/README.md
study CLAUDE.md and pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- update IMPLEMENTATION_PLAN.md when the task is done
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run tests after changes
- commit and push when you are done
`;

type Named = Input<typeof clusterOptions>;

export async function mainPause(context: Context, input: Named): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster.ts')).pause(context, input);
  const { args } = input;
  const { worker } = await needLoop(context, args[0]);
  const { before, changed } = pauseLoop(context.env, worker.name, systemClock.now());
  if (changed) context.stdout.write(`paused ralph loop for ${worker.name}\n`);
  else if (before?.status === 'paused') warn(context, `worker '${worker.name}' is already paused`);
  else warn(context, `worker '${worker.name}' is not running (${before?.status ?? 'no loop'})`);
  return 0;
}

export async function mainResume(context: Context, input: Named): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster.ts')).resume(context, input);
  const { args } = input;
  const { worker } = await needLoop(context, args[0]);
  const { before, changed } = await resume(context, worker);
  if (!changed) {
    warn(context, `worker '${worker.name}' is not paused`);
    const isOver = before?.status === 'stopped' || before?.status === 'failed';
    if (isOver) context.stderr.write(`  its loop is over; begin anew with: swarm respawn ${worker.name}\n`);
    return isOver ? 1 : 0;
  }
  context.stdout.write(`resumed ralph loop for ${worker.name}\n`);
  return 0;
}

function resume({ env }: Context, { name }: Worker): Promise<Change> {
  return resumeLoop(env, name, systemClock.now(), programCommand('swarm'));
}

/** Ends the loop and its agent; the worker stays on the list. */
export async function mainStop(context: Context, input: Named): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster.ts')).stop(context, input);
  const { args } = input;
  const { worker } = await needLoop(context, args[0]);
  await holdWorker(context.env, worker.name, () => endWorker(context.env, worker, systemClock.now()));
  context.stdout.write(`stopped ralph loop for ${worker.name}\n`);
  return 0;
}

/** Starts a loop that was spawned with --no-run, and follows any loop until it ends. */
export async function mainRun(context: Context, { values, args }: Named): Promise<number> {
  if (wantsCluster(context, values)) {
    throw fault('a loop of a cluster is run by its machines', `swarm wait ${args[0] ?? 'NAME'}`);
  }
  const { worker } = await needLoop(context, args[0]);
  await resume(context, worker);
  return followLoop(context, worker.name);
}

export async function mainStatus(context: Context, input: Named): Promise<number> {
  if (wantsCluster(context, input.values))
    return (await import('./cluster-views.ts')).loopStatus(context, input);
  const { args } = input;
  const { worker, loop } = await needLoop(context, args[0]);
  context.stdout.write(cleanTerminal(statusText(loop, readTold(context.env, worker, loop))));
  return 0;
}

export async function mainLs(context: Context, input: Input<typeof ralphLsOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster-views.ts')).loopLs(context, input);
  const { values } = input;
  const { format = 'table', status = 'all' } = values;
  const loops = (await allWorkers(context)).flatMap(({ name, metadata }) => {
    const loop = metadata.ralph === true ? readLoop(context.env, name) : null;
    return loop === null || (status !== 'all' && loop.status !== status) ? [] : [loop];
  });
  const rows = loops.map((loop) => [
    loop.name,
    loop.status,
    `${loop.iteration}/${loop.settings.max_iterations}`,
    String(loop.totalFailures),
    whyText(loop.why, systemClock.now()),
  ]);
  if (format === 'json')
    context.stdout.write(
      `${JSON.stringify(
        loops.map((loop) => ({ ...stateOf(loop), end: loop.end })),
        null,
        2,
      )}\n`,
    );
  else if (format === 'names') context.stdout.write(loops.map(({ name }) => `${name}\n`).join(''));
  else context.stdout.write(tableText(['NAME', 'STATUS', 'ITERATION', 'FAILURES', 'WHY'], rows));
  return 0;
}

export async function mainLogs(context: Context, input: Input<typeof ralphLogsOptions>): Promise<number> {
  if (wantsCluster(context, input.values))
    return (await import('./cluster-views.ts')).loopLogs(context, input);
  const { values, args } = input;
  const { worker } = await needLoop(context, args[0]);
  const { log } = loopPaths(context.env, worker.name);
  const lines = readLogLines(log, values.lines);
  if (lines === null) throw fault(`no iterations yet for '${worker.name}'`);
  if (!values.live) {
    context.stdout.write(lines.map((line) => `${cleanTerminal(line)}\n`).join(''));
    return 0;
  }
  await tailFile(log, { follow: true, onData: (bytes) => void context.stdout.write(bytes) });
  return 0;
}

export function mainInit(context: Context, { values }: Input<typeof ralphInitOptions>): number {
  const path = join(context.cwd, 'PROMPT.md');
  const exists = lstatOf(path) !== null;
  if (exists && !values.force) throw fault('PROMPT.md already exists (use --force to overwrite)');
  writeAtomic(path, promptTemplate, { mode: 0o644 });
  context.stdout.write(`created PROMPT.md${exists ? ' (overwritten)' : ''}\n`);
  return 0;
}

export function mainTemplate(context: Context): number {
  context.stdout.write(promptTemplate);
  return 0;
}

async function needLoop(
  context: Context,
  name: string | undefined,
): Promise<{ worker: Worker; loop: LoopRecord }> {
  const worker = await needWorker(context, name);
  if (worker.metadata.ralph !== true) throw fault(`worker '${worker.name}' is not a ralph worker`);
  const loop = readLoop(context.env, worker.name);
  if (loop === null) throw fault(`the loop of '${worker.name}' is gone`, `swarm kill ${worker.name}`);
  return { worker, loop };
}

function statusText(loop: LoopRecord, told: Told): string {
  const { settings, iterationStartedAt: began, why } = loop;
  const lines = [
    `Ralph Loop: ${loop.name}`,
    `Status: ${loop.status}`,
    `Iteration: ${loop.iteration}/${settings.max_iterations}`,
    `Started: ${showStamp(stamp(loop.startedAt))}`,
    ...(began === null ? [] : [`Current iteration started: ${showStamp(stamp(began))}`]),
    `Consecutive failures: ${loop.failures}`,
    `Total failures: ${loop.totalFailures}`,
    `Inactivity timeout: ${settings.inactivity_timeout}s`,
    ...(settings.done_pattern === null ? [] : [`Done pattern: ${settings.done_pattern}`]),
    `Why: ${whyText(why, systemClock.now())}`,
    ...skippedTexts(told).map((text) => `Skipped: ${text}`),
  ];
  return `${lines.join('\n')}\n`;
}
