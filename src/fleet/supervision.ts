import { notifyEnd } from '../drive/notify-end.ts';
import type { Clock } from '../os/clock.ts';
import type { Environment } from '../os/process/program.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { type LastingTmux, lastingTmux } from '../os/terminal/tmux-lasting.ts';
import { type DrivenLoop, newDrivenLoop } from './driven-loop.ts';
import type { FleetEvent } from './files/events.ts';
import { isOpen, type LoopRecord, type LoopStep, readLoop, updateLoop, type Why } from './files/loops.ts';
import { workerRunId } from './files/paths.ts';
import type { Worker } from './files/workers.ts';
import { createRegistryWriter, type RegistryWriter } from './registry-writer.ts';
import { needsDriving } from './what-next.ts';

export type SupervisorOptions = {
  readonly env: Environment;
  readonly clock: Clock;
  /** Milliseconds between two looks at the screens. */
  readonly tickMs: number;
  /** Version of this program, for notifications. */
  readonly version: string;
  /** Writes a line into the supervisor's log. */
  say(line: string): void;
};

/** State that all steps of the supervisor share. */
export type Supervision = SupervisorOptions & {
  readonly loops: Map<string, DrivenLoop>;
  readonly servers: Map<string | null, LastingTmux>;
  readonly registry: RegistryWriter;
  /** Notifications that are being sent. */
  readonly notices: Set<Promise<void>>;
  /** True once it has to leave: it starts nothing any more. */
  leaving: boolean;
  /** Iterations that start at this moment. */
  starting: number;
};

export function newSupervision(options: SupervisorOptions): Supervision {
  const { env, clock } = options;
  return {
    ...options,
    loops: new Map(),
    servers: new Map(),
    registry: createRegistryWriter(env, clock),
    notices: new Set(),
    leaving: false,
    starting: 0,
  };
}

/** Returns the tmux server of a loop; all loops of a server share one connection. */
export function serverOf({ servers, env }: Supervision, { worker }: DrivenLoop): Tmux {
  const { socket } = worker.tmux;
  const server = servers.get(socket) ?? lastingTmux(socket, env);
  servers.set(socket, server);
  return server;
}

/** Changes the record of a loop by one step, and writes its events into the supervisor's log. */
export function step(
  all: Supervision,
  one: DrivenLoop,
  take: (loop: LoopRecord) => LoopStep | null,
): LoopRecord | null {
  const after = updateLoop(all.env, one.name, (loop) => {
    const next = take(loop);
    for (const { type, text } of next?.events ?? []) {
      if (type !== 'screen') all.say(`[ralph] ${one.name}: ${text}`);
    }
    return next;
  });
  if (after === null) drop(all, one);
  else one.loop = after;
  return after;
}

/** Writes what a loop is doing, if that changed. */
export function setWhy(all: Supervision, one: DrivenLoop, why: Why): void {
  const { state, detail } = one.loop.why;
  if (state === why.state && detail === why.detail) return;
  step(all, one, (loop) => {
    if (loop.launch !== one.loop.launch || loop.status !== 'running') return null;
    const text = why.detail === undefined ? why.state : `${why.state}: ${why.detail}`;
    return { change: { why }, lines: loop.lines, events: [{ at: why.since, type: 'screen', text }] };
  });
}

/** Adds an event to the timeline of the iteration that runs. */
export function tell(all: Supervision, one: DrivenLoop, type: FleetEvent['type'], text: string): void {
  const event = { at: all.clock.now(), type, text };
  step(all, one, ({ launch, lines }) =>
    launch === one.loop.launch ? { change: {}, lines, events: [event] } : null,
  );
}

/** Notifies people of a loop that is over, in the background. */
export function notify(all: Supervision, worker: Worker, loop: LoopRecord): void {
  if (isOpen(loop)) return;
  const { env, clock, version, say, notices } = all;
  const { name, cwd } = worker;
  const facts = {
    kind: loop.status === 'failed' ? 'failure' : loop.end?.exitCode === 0 ? 'done' : 'limit',
    run: workerRunId(env, name),
    project: name,
    iterations: loop.iteration,
    at: new Date(clock.now()).toISOString(),
    because: loop.why.detail ?? loop.why.state,
  } as const;
  const notice = notifyEnd(facts, { cwd, env, version }).then(({ deliveries, problem }) => {
    if (problem !== undefined) say(`swarm: warning: ${name}: nothing was notified: ${problem}`);
    for (const { ok, channel, detail } of deliveries) {
      if (!ok) say(`swarm: warning: ${name}: not notified by ${channel}: ${detail}`);
    }
    notices.delete(notice);
  });
  notices.add(notice);
}

/** Reads the list of workers, takes up the loops that need driving and drops the others. */
export function takeWorkers(all: Supervision): void {
  const workers = all.registry.read();
  const names = new Set(workers.map(({ name }) => name));
  for (const one of [...all.loops.values()]) if (!names.has(one.name)) drop(all, one);
  for (const worker of workers) takeWorker(all, worker);
}

function takeWorker(all: Supervision, worker: Worker): void {
  const { loops, env, registry, say } = all;
  const { name, metadata, status, tmux } = worker;
  const loop = readLoop(env, name);
  if (metadata.ralph !== true || tmux === null || loop?.held) return;
  const entry = loops.get(name);
  if (loop === null || !needsDriving(loop)) {
    if (entry) drop(all, entry);
    if (loop === null && status === 'running') say(`swarm: warning: the loop of '${name}' is gone`);
    if (status === 'running') registry.change(name, { status: 'stopped' });
    return;
  }
  const loopWorker = { ...worker, tmux };
  if (entry === undefined) loops.set(name, newDrivenLoop(loopWorker, loop));
  else Object.assign(entry, { worker: loopWorker, loop });
  listIteration(all, worker, loop);
}

/** Writes the iteration of a loop into the list of workers. */
export function listIteration({ registry }: Supervision, worker: Worker, { iteration }: LoopRecord): void {
  const { metadata, name, status } = worker;
  if (metadata.ralph_iteration === iteration && status === 'running') return;
  registry.change(name, {
    status: 'running',
    metadata: { ...metadata, ralph: true, ralph_iteration: iteration },
  });
}

/** Stops driving a loop. */
export function drop({ loops }: Supervision, one: DrivenLoop): void {
  one.cancelTimer();
  loops.delete(one.name);
}
