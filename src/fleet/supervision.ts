import type { NoticeKind } from '../core/notice.ts';
import { notifyEnd } from '../drive/notify-end.ts';
import type { Clock } from '../os/clock.ts';
import { fileStamp } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { type LastingTmux, lastingTmux } from '../os/terminal/tmux-lasting.ts';
import { type DrivenLoop, newDrivenLoop } from './driven-loop.ts';
import type { FleetEvent } from './files/events.ts';
import { logLine } from './files/log.ts';
import {
  damageText,
  isAsking,
  isOpen,
  type LoopRecord,
  type LoopStep,
  needsYou,
  readLoop,
  updateLoop,
  type Why,
} from './files/loops.ts';
import { fleetPaths, workerRunId } from './files/paths.ts';
import { readWorkers, updateWorkers, type Worker } from './files/workers.ts';
import { needsDriving } from './what-next.ts';
import { nextCommand, whyText } from './why.ts';

export type SupervisorOptions = {
  readonly env: Environment;
  readonly clock: Clock;
  /** Milliseconds between two looks at the screens. */
  readonly tickMs: number;
  readonly version: string;
  /** Writes a line into the supervisor's log. */
  say(line: string): void;
};

/** State that all steps of the supervisor share. */
export type Supervision = ReturnType<typeof newSupervision>;

export function newSupervision(options: SupervisorOptions) {
  return {
    ...options,
    loops: new Map<string, DrivenLoop>(),
    servers: new Map<string | null, LastingTmux>(),
    registry: openRegistry(options),
    notices: new Set<Promise<void>>(),
    /** True once it has to leave: it starts nothing any more. */
    leaving: false,
    starting: 0,
    /** Time by which looks came late, in all. */
    lateMs: 0,
  };
}

/** Returns the monotonic time by which silence is judged: without the time by which looks came late. */
export function watchTime({ clock, lateMs }: Supervision): number {
  return clock.monotonic() - lateMs;
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
  const after = step(all, one, (loop) =>
    loop.launch === one.loop.launch && loop.status === 'running' ? whyStep(loop, why) : null,
  );
  if (after?.why !== why) return;
  listIteration(all, one);
  notify(all, one.worker, after);
}

/** Returns the step to another state. A question on the screen pauses the loop, and its end resumes it. */
function whyStep(loop: LoopRecord, why: Why): LoopStep {
  const at = why.since;
  const change = { why };
  if (needsYou(why.state)) {
    const lines = [logLine(at, 'PAUSE', 'loop paused reason=question')];
    return { change, lines, events: [{ at, type: 'paused', text: whyText(why, at) }] };
  }
  if (isAsking(loop)) {
    const lines = [logLine(at, 'RESUME', `loop resumed at iteration ${loop.iteration}`)];
    return { change, lines, events: [{ at, type: 'resumed', text: 'resumed: the question is gone' }] };
  }
  const text = why.detail === undefined ? why.state : `${why.state}: ${why.detail}`;
  return { change, lines: loop.lines, events: [{ at, type: 'screen', text }] };
}

/** Adds an event to the timeline of the iteration that runs. */
export function tell(all: Supervision, one: DrivenLoop, type: FleetEvent['type'], text: string): void {
  const event = { at: all.clock.now(), type, text };
  step(all, one, ({ launch, lines }) =>
    launch === one.loop.launch ? { change: {}, lines, events: [event] } : null,
  );
}

/** Notifies people of a loop that is over or needs them, in the background. */
export function notify(all: Supervision, worker: Worker, loop: LoopRecord): void {
  if (isOpen(loop) && !isAsking(loop)) return;
  const { env, clock, version, say, notices } = all;
  const { name, cwd } = worker;
  const facts = {
    kind: noticeKindOf(loop),
    run: workerRunId(env, name),
    project: name,
    iterations: loop.iteration,
    ...(loop.end === null ? {} : { outcome: loop.end.outcome }),
    next: nextCommand(name, loop.why) ?? `swarm logs ${name}`,
    at: new Date(clock.now()).toISOString(),
    because: isAsking(loop) ? whyText(loop.why, clock.now()) : (loop.why.detail ?? loop.why.state),
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

function noticeKindOf(loop: LoopRecord): NoticeKind {
  if (isAsking(loop)) return 'blocked';
  return loop.status === 'failed' ? 'failure' : loop.end?.exitCode === 0 ? 'done' : 'limit';
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
  const damage = entry === undefined ? damageText(env, name, loop) : null;
  if (damage !== null) say(`swarm: warning: ${damage}`);
  const one = entry ?? newDrivenLoop(loopWorker, loop);
  loops.set(name, Object.assign(one, { worker: loopWorker, loop }));
  listIteration(all, one);
}

/** Writes the iteration of a loop, and what it asks, into the list of workers. */
export function listIteration({ registry, clock }: Supervision, one: DrivenLoop): void {
  const { loop, worker } = one;
  const needs_you = isAsking(loop) ? whyText(loop.why, clock.now()) : undefined;
  const { ralph_iteration, needs_you: listed } = worker.metadata;
  if (ralph_iteration === loop.iteration && listed === needs_you && worker.status === 'running') return;
  const metadata = { ...worker.metadata, ralph: true, ralph_iteration: loop.iteration, needs_you };
  one.worker = { ...worker, status: 'running', metadata };
  registry.change(one.name, { status: 'running', metadata });
}

export function drop({ loops }: Supervision, one: DrivenLoop): void {
  one.cancelTimer();
  loops.delete(one.name);
}

const flushMs = 30;

/** Returns the access of the supervisor to the list of workers. A burst of changes is written once. */
function openRegistry({ env, clock }: SupervisorOptions) {
  const changes = new Map<string, Partial<Worker>>();
  const stampNow = () => fileStamp(fleetPaths(env).state);
  let stamp = '';

  function flush(): void {
    if (changes.size === 0) return;
    const due = new Map(changes);
    changes.clear();
    updateWorkers(env, (workers) =>
      workers.map((worker) => ({ ...worker, ...stillTrue(env, worker, due.get(worker.name)) })),
    );
    stamp = stampNow();
  }

  return {
    read(): readonly Worker[] {
      stamp = stampNow();
      return readWorkers(env).workers;
    },
    /** True if another process wrote the list since, or after `distrust`. */
    isStale: () => stampNow() !== stamp,
    distrust(): void {
      stamp = '';
    },
    change(name: string, part: Partial<Worker>): void {
      if (changes.size === 0) clock.timer(flushMs, flush);
      changes.set(name, { ...changes.get(name), ...part });
    },
    flush,
  };
}

/** Drops a change that is outdated: a command may have killed or replaced the worker. */
function stillTrue(env: Environment, worker: Worker, part: Partial<Worker> | undefined): Partial<Worker> {
  if (part === undefined) return {};
  const isDriven = needsDriving(readLoop(env, worker.name));
  return (part.status === 'running') === isDriven ? part : {};
}
