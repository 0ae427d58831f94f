import { join } from 'node:path';
import { readLogLines } from '../../fleet/files/log.ts';
import { isAsking, isOpen, stateOf } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { showStamp, stamp } from '../../fleet/files/time.ts';
import { whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { lstatOf, writeAtomic } from '../../os/files/files.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import { followLoop } from './follow.ts';
import { type History, skippedTexts } from './history.ts';
import { type ShownLoop, withLoops } from './loops.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { clusterOptions, ralphInitOptions, ralphLogsOptions, ralphLsOptions } from './options.ts';
import { writeList } from './table.ts';

/** The PROMPT.md of `swarm ralph init`. It is short, which leaves the context to the work. */
const promptTemplate = `study specs/README.md
study CLAUDE.md and pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- update IMPLEMENTATION_PLAN.md when the task is done
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run tests after changes
- commit and push when you are done
`;

const followMs = 1000;

type LoopInput = Input<typeof clusterOptions>;

export function mainPause(context: Context, { values, args }: LoopInput): Promise<number> {
  return withLoops(context, values, async (loops) => {
    const { name, status } = await loops.need(args[0]);
    if (await loops.pause(name)) context.stdout.write(`paused ralph loop for ${name}\n`);
    else if (status === 'paused') warn(context, `worker '${name}' is already paused`);
    else warn(context, `worker '${name}' is not running (${status})`);
    return 0;
  });
}

export function mainResume(context: Context, { values, args }: LoopInput): Promise<number> {
  requirePerson(context.env);
  return withLoops(context, values, async (loops) => {
    // A new supervisor would start a lost iteration again before this command.
    const loop = await loops.need(args[0], false);
    const { name, host } = loop;
    const more = await loops.resume(name);
    if (more !== null) {
      context.stdout.write(`resumed ralph loop for ${name}${more}\n`);
      return 0;
    }
    if (isAsking(loop)) {
      warn(context, `worker '${name}' ${whyText(loop.why, systemClock.now())}`);
      context.stderr.write(`  it goes on when you have answered: swarm attach ${name}\n`);
      return 0;
    }
    warn(context, `worker '${name}' is not paused`);
    if (isOpen(loop)) return 0;
    if (host === undefined) {
      context.stderr.write(`  its loop is over; begin anew with: swarm respawn ${name}\n`);
    }
    return 1;
  });
}

export function mainStop(context: Context, { values, args }: LoopInput): Promise<number> {
  return withLoops(context, values, async (loops) => {
    const { name } = await loops.need(args[0]);
    await loops.stop(name);
    context.stdout.write(`stopped ralph loop for ${name}\n`);
    return 0;
  });
}

/** Starts a loop that was spawned with --no-run, and follows any loop until it ends. */
export function mainRun(context: Context, { values, args }: LoopInput): Promise<number> {
  if (wantsCluster(context, values)) {
    throw fault('a loop of a cluster is run by its machines', `swarm wait ${args[0] ?? 'NAME'}`);
  }
  return withLoops(context, values, async (loops) => {
    const { name, status } = await loops.need(args[0]);
    if (status === 'paused') requirePerson(context.env);
    await loops.resume(name);
    return followLoop(context, name);
  });
}

export function mainStatus(context: Context, { values, args }: LoopInput): Promise<number> {
  return withLoops(context, values, async (loops) => {
    const loop = await loops.need(args[0]);
    context.stdout.write(cleanTerminal(statusText(loop, await loops.history(loop.name))));
    return 0;
  });
}

export function mainLs(context: Context, { values }: Input<typeof ralphLsOptions>): Promise<number> {
  const { format, status = 'all' } = values;
  return withLoops(context, values, async (loops) => {
    const list = (await loops.list()).filter((loop) => status === 'all' || stateOf(loop).status === status);
    const isCluster = list[0]?.host !== undefined;
    return writeList(context, format, {
      names: list.map(({ name }) => name),
      json: () => list.map((loop) => (isCluster ? loop : { ...stateOf(loop), end: loop.end })),
      head: ['NAME', 'STATUS', 'ITERATION', 'FAILURES', 'WHY', ...(isCluster ? ['HOST'] : [])],
      rows: () =>
        list.map((loop) => [
          loop.name,
          stateOf(loop).status,
          iterationText(loop),
          String(loop.totalFailures),
          whyText(loop.why, systemClock.now()),
          ...(isCluster ? [loop.host ?? '-'] : []),
        ]),
    });
  });
}

export async function mainLogs(context: Context, input: Input<typeof ralphLogsOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return logsInCluster(context, input);
  const { values, args } = input;
  return withLoops(context, values, async (loops) => {
    const { name } = await loops.need(args[0]);
    const { log } = loopPaths(context.env, name);
    const lines = readLogLines(log, values.lines);
    if (lines === null) throw fault(`no iterations yet for '${name}'`);
    if (values.live) await tailFile(log, { follow: true, onData: (bytes) => context.stdout.write(bytes) });
    else context.stdout.write(lines.map((line) => `${cleanTerminal(line)}\n`).join(''));
    return 0;
  });
}

function logsInCluster(context: Context, { values, args }: Input<typeof ralphLogsOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name } = await needClusterLoop(cluster, args[0]);
    const write = (lines: readonly string[]) =>
      context.stdout.write(lines.map((line) => `${cleanTerminal(line)}\n`).join(''));
    const lines = await cluster.log(name, values.lines);
    if (!values.live && lines.length === 0) throw fault(`no iterations yet for '${name}'`);
    write(lines);
    if (!values.live) return 0;
    let old = new Set(await cluster.log(name));
    for (;;) {
      await systemClock.sleep(followMs);
      const all = await cluster.log(name);
      write(all.filter((line) => !old.has(line)));
      old = new Set(all);
    }
  });
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

function statusText(loop: ShownLoop, history: History): string {
  const { settings, iterationStartedAt: began, host, head } = loop;
  const place = [
    `Host: ${host ?? '-'}`,
    `Repository: ${loop.repo}`,
    `Branch: ${loop.branch}${head ? ` (${head.slice(0, 12)})` : ''}`,
  ];
  const lines = [
    `Ralph Loop: ${loop.name}`,
    `Status: ${stateOf(loop).status}`,
    `Iteration: ${iterationText(loop)}`,
    `Started: ${showStamp(stamp(loop.startedAt))}`,
    ...(began === null ? [] : [`Current iteration started: ${showStamp(stamp(began))}`]),
    `Consecutive failures: ${loop.failures}`,
    `Total failures: ${loop.totalFailures}`,
    `Inactivity timeout: ${settings.inactivity_timeout}s`,
    ...(settings.done_pattern === null ? [] : [`Done pattern: ${settings.done_pattern}`]),
    ...(host === undefined ? [] : place),
    `Why: ${whyText(loop.why, systemClock.now())}`,
    ...skippedTexts(history).map((text) => `Skipped: ${text}`),
  ];
  return `${lines.join('\n')}\n`;
}

function iterationText({ iteration, settings }: ShownLoop): string {
  return `${iteration}/${settings.max_iterations}`;
}
