import { join } from 'node:path';
import { isAsking, isOpen, stateOf } from '../../fleet/files/loops.ts';
import { showTime } from '../../fleet/files/time.ts';
import { whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { lstatOf, writeAtomic } from '../../os/files/files.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import type { History, ShownLoop } from './fleet.ts';
import { withFleet } from './local-fleet.ts';
import { wantsCluster } from './open-cluster.ts';
import type { clusterOptions, ralphInitOptions, ralphLogsOptions, ralphLsOptions } from './options.ts';
import { writeList } from './table.ts';
import { followLoop } from './wait.ts';
import { skippedTexts } from './why.ts';

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

export function mainPause(context: Context, { values, args }: LoopInput): Promise<void> {
  return withFleet(context, values, async (fleet) => {
    const { name, status } = await fleet.needLoop(args[0]);
    if (await fleet.pause(name)) context.stdout.write(`paused ralph loop for ${name}\n`);
    else if (status === 'paused') warn(context, `worker '${name}' is already paused`);
    else warn(context, `worker '${name}' is not running (${status})`);
  });
}

export function mainResume(context: Context, { values, args }: LoopInput): Promise<number> {
  requirePerson(context.env);
  return withFleet(context, values, async (fleet) => {
    // A new supervisor would start a lost iteration again before this command.
    const loop = await fleet.needLoop(args[0], false);
    const { name, host } = loop;
    const more = await fleet.resume(name);
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

export function mainStop(context: Context, { values, args }: LoopInput): Promise<void> {
  return withFleet(context, values, async (fleet) => {
    const { name } = await fleet.needLoop(args[0]);
    await fleet.end(name);
    context.stdout.write(`stopped ralph loop for ${name}\n`);
  });
}

/** Starts a loop that was spawned with --no-run, and follows any loop until it ends. */
export function mainRun(context: Context, { values, args }: LoopInput): Promise<number> {
  if (wantsCluster(context, values)) {
    throw fault('a loop of a cluster is run by its machines', `swarm wait ${args[0] ?? 'NAME'}`);
  }
  return withFleet(context, values, async (fleet) => {
    const { name, status } = await fleet.needLoop(args[0]);
    if (status === 'paused') requirePerson(context.env);
    await fleet.resume(name);
    return followLoop(context, name);
  });
}

export function mainStatus(context: Context, { values, args }: LoopInput): Promise<void> {
  return withFleet(context, values, async (fleet) => {
    const loop = await fleet.needLoop(args[0]);
    context.stdout.write(cleanTerminal(statusText(loop, await fleet.history(loop.name))));
  });
}

export function mainLs(context: Context, { values }: Input<typeof ralphLsOptions>): Promise<void> {
  const { format, status = 'all' } = values;
  return withFleet(context, values, async (fleet) => {
    const list = (await fleet.loops()).filter((loop) => status === 'all' || stateOf(loop).status === status);
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

export function mainLogs(context: Context, { values, args }: Input<typeof ralphLogsOptions>) {
  return withFleet(context, values, async (fleet) => {
    const { name } = await fleet.needLoop(args[0]);
    const write = (lines: readonly string[]) =>
      context.stdout.write(lines.map((line) => `${cleanTerminal(line)}\n`).join(''));
    let lines = await fleet.log(name);
    if (!values.live && lines.length === 0) throw fault(`no iterations yet for '${name}'`);
    write(lines.slice(Math.max(0, lines.length - (values.lines ?? lines.length))));
    while (values.live) {
      await systemClock.sleep(followMs);
      const old = new Set(lines);
      lines = await fleet.log(name);
      write(lines.filter((line) => !old.has(line)));
    }
  });
}

export function mainInit(context: Context, { values }: Input<typeof ralphInitOptions>): void {
  const path = join(context.cwd, 'PROMPT.md');
  const exists = lstatOf(path) !== null;
  if (exists && !values.force) throw fault('PROMPT.md already exists (use --force to overwrite)');
  writeAtomic(path, promptTemplate, { mode: 0o644 });
  context.stdout.write(`created PROMPT.md${exists ? ' (overwritten)' : ''}\n`);
}

export function mainTemplate(context: Context): void {
  context.stdout.write(promptTemplate);
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
    `Started: ${showTime(loop.startedAt)}`,
    ...(began === null ? [] : [`Current iteration started: ${showTime(began)}`]),
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
