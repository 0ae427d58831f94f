import { messageOf } from '../core/error.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import { holdAccount } from '../store/fleet-limits.ts';
import {
  type LoopRecord,
  type LoopStep,
  listLoops,
  readLoop,
  repairLoop,
  updateLoop,
  type Why,
} from '../store/fleet-loops.ts';
import { endedMark, ensureMarks, startedMark } from '../store/fleet-marks.ts';
import { fleetPaths, workerRunId } from '../store/fleet-paths.ts';
import { readWorkers, type Worker } from '../store/fleet-workers.ts';
import type { Clock } from '../system/clock.ts';
import { sweepRun } from '../system/process.ts';
import type { Environment } from '../system/program.ts';
import type { Tmux } from '../system/tmux.ts';
import { type LastingTmux, lastingTmux } from '../system/tmux-lasting.ts';
import { watchFolder } from '../system/watch-folder.ts';
import { accountOfLoop } from './admission.ts';
import { bookEnd } from './book-end.ts';
import { wrapUpText } from './context.ts';
import { pauseWhenFree } from './control.ts';
import { type Driven, forgetScreen, newDriven, turnOf } from './driven.ts';
import { readEnd, type SeenEnd } from './iteration-output.ts';
import { createNotices } from './notices.ts';
import { createRegistryWriter } from './registry-writer.ts';
import { lookAtScreens } from './screen-round.ts';
import { startIteration } from './start-iteration.ts';
import { endRunOf } from './supervised-run.ts';
import { typeIn } from './type-in.ts';
import { lookAtScreen } from './watch-screen.ts';
import { needsDriving, whatNext } from './what-next.ts';

export type SupervisorOptions = {
  readonly env: Environment;
  readonly clock: Clock;
  /** Between two looks at the screens. */
  readonly tickMs: number;
  /** Of this program, for what it sends to others. */
  readonly version: string;
  /** For a line of its log. */
  say(line: string): void;
};

export type Supervisor = {
  /** Drives all loops until none is left; the answer to `mayLeave` ends it then. */
  run(mayLeave: () => boolean): Promise<void>;
  /** Pauses all loops and ends; their agents go on. */
  pauseAll(): void;
};

/** Whether there is a loop that somebody has to look after. */
export function hasWork(env: Environment): boolean {
  return readWorkers(env).workers.some(({ name, metadata }) => {
    const loop = metadata.ralph === true ? readLoop(env, name) : null;
    return loop !== null && needsDriving(loop);
  });
}

/** So often everything is read anew, whatever the marks say. */
const rereadMs = 30_000;
const starts = 8;
const keptBackMs = 5000;
const busyMs = 20;

export function createSupervisor({ env, clock, tickMs, version, say }: SupervisorOptions): Supervisor {
  const driven = new Map<string, Driven>();
  const servers = new Map<string | null, LastingTmux>();
  const registry = createRegistryWriter(env, clock);
  const notices = createNotices({ env, version, now: () => clock.now(), say });
  let wake = () => {};
  let leaving = false;
  let starting = 0;

  const serverOf = ({ worker }: Driven): Tmux => {
    const { socket } = worker.tmux;
    const known = servers.get(socket) ?? lastingTmux(socket, env);
    servers.set(socket, known);
    return known;
  };

  /** Takes one step of a loop, and tells the log what it brought. */
  function step(one: Driven, take: (loop: LoopRecord) => LoopStep | null): LoopRecord | null {
    const after = updateLoop(env, one.name, (loop) => {
      const taken = take(loop);
      for (const { type, text } of taken?.events ?? []) {
        if (type !== 'screen') say(`[ralph] ${one.name}: ${text}`);
      }
      return taken;
    });
    if (after === null) drop(one);
    else one.loop = after;
    return after;
  }

  function setWhy(one: Driven, why: Why): void {
    const { state, detail } = one.loop.why;
    if (state === why.state && detail === why.detail) return;
    step(one, (loop) => {
      if (loop.launch !== one.loop.launch || loop.status !== 'running') return null;
      const text = why.detail === undefined ? why.state : `${why.state}: ${why.detail}`;
      return { change: { why }, lines: loop.lines, events: [{ at: why.since, type: 'screen', text }] };
    });
  }

  function drop(one: Driven): void {
    one.cancelTimer();
    driven.delete(one.name);
  }

  /** Until the next look, or until somebody wakes us. */
  function nap(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.timer(tickMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  // ── what there is to drive ──

  function reread(): void {
    const workers = registry.read();
    const names = new Set(workers.map(({ name }) => name));
    for (const one of [...driven.values()]) if (!names.has(one.name)) drop(one);
    for (const worker of workers) take(worker);
  }

  function take(worker: Worker, loop = readLoop(env, worker.name)): void {
    if (worker.metadata.ralph !== true || worker.tmux === null || loop?.held) return;
    const known = driven.get(worker.name);
    const isDriven = loop !== null && needsDriving(loop);
    if (!isDriven) {
      if (known) drop(known);
      if (loop === null && worker.status === 'running')
        say(`swarm: warning: the loop of '${worker.name}' is gone`);
      if (worker.status === 'running') registry.change(worker.name, { status: 'stopped' });
      return;
    }
    const loopWorker = { ...worker, tmux: worker.tmux };
    if (known === undefined) driven.set(worker.name, newDriven(loopWorker, loop));
    else Object.assign(known, { worker: loopWorker, loop });
    tellRegistry(worker, loop);
  }

  /** The list of workers shows the iteration. */
  function tellRegistry(worker: Worker, loop: LoopRecord): void {
    const { metadata } = worker;
    if (metadata.ralph_iteration === loop.iteration && worker.status === 'running') return;
    registry.change(worker.name, {
      status: 'running',
      metadata: { ...metadata, ralph: true, ralph_iteration: loop.iteration },
    });
  }

  // ── one loop ──

  async function handle(one: Driven): Promise<void> {
    if (leaving) return;
    if (one.busy) {
      one.again = true;
      return;
    }
    one.busy = true;
    try {
      do {
        one.again = false;
        await drive(one);
      } while (one.again && driven.get(one.name) === one && !leaving);
    } catch (error) {
      say(`swarm: error: ${one.name}: ${messageOf(error)}`);
    } finally {
      one.busy = false;
    }
  }

  async function drive(one: Driven): Promise<void> {
    const { loop, pane } = one;
    const action = whatNext({
      loop,
      now: clock.now(),
      pane: pane ? { mark: pane.place, dead: pane.dead, exitCode: pane.exitCode } : pane,
      started: startedMark(env, one.name),
      ended: endedMark(env, one.name),
      missedBefore: one.missedBefore,
    });
    switch (action.kind) {
      case 'leave':
        registry.change(one.name, { status: 'stopped' });
        return drop(one);
      case 'unclaim':
        step(one, (newest) => ({ change: { iteration: newest.ended } }));
        one.again = true;
        return;
      case 'wait':
        one.cancelTimer();
        one.cancelTimer = clock.timer(Math.max(1, action.until - clock.now()), () => void handle(one));
        return;
      case 'start':
        return startNext(one);
      case 'finish':
        return finish(one, action);
      case 'look':
        one.missedBefore = pane === null;
        return;
      case 'watch':
        one.missedBefore = false;
        return;
    }
  }

  async function startNext(one: Driven): Promise<void> {
    if (starting >= starts) {
      one.cancelTimer();
      one.cancelTimer = clock.timer(20, () => void handle(one));
      return;
    }
    starting++;
    one.keptBack = false;
    try {
      const started = await startIteration(env, one.worker, serverOf(one), () => clock.now());
      if (started.loop === null) return drop(one);
      one.loop = started.loop;
      if (started.kind === 'started') {
        forgetScreen(one, clock.monotonic());
        say(
          `[ralph] ${one.name}: starting iteration ${started.loop.iteration}/${started.loop.settings.max_iterations}`,
        );
        tellRegistry(one.worker, started.loop);
        one.worker = {
          ...one.worker,
          metadata: { ...one.worker.metadata, ralph_iteration: started.loop.iteration },
        };
      } else if (started.kind === 'ended') {
        const prefix = started.loop.status === 'failed' ? 'swarm: error:' : `[ralph] ${one.name}:`;
        say(`${prefix} ${started.why}`);
        notices.tell(one.worker, started.loop);
        one.again = true;
      } else if (started.kind === 'not-opened') {
        say(`swarm: error: failed to create tmux window: ${messageOf(started.error)}`);
        await finish(one, { how: 'lost', exitCode: null });
      } else if (started.kind === 'kept-back') {
        keepBack(one, started.why, started.until);
      } else {
        forgetScreen(one, one.startedAt);
        one.again = started.loop.iteration === started.loop.ended;
      }
    } finally {
      starting--;
    }
  }

  /** Asked again when another iteration ends, and now and then, since others than us end iterations too. */
  function keepBack(one: Driven, why: Why, until: number | null): void {
    one.keptBack = true;
    setWhy(one, why);
    const ms = Math.min(until === null ? Number.POSITIVE_INFINITY : until - clock.now(), keptBackMs);
    one.cancelTimer();
    one.cancelTimer = clock.timer(Math.max(1, ms), () => void handle(one));
  }

  async function finish(one: Driven, seen: SeenEnd): Promise<void> {
    const { launch } = one.loop;
    // Of one that ended by itself, nothing is left whose children could be found.
    const children = seen.how !== 'exited' && seen.how !== 'lost';
    await sweepRun(workerRunId(env, one.name), { children });
    // Somebody may have edited its settings.
    one.loop = readLoop(env, one.name) ?? one.loop;
    const { end, seq, isTold } = await readEnd({ env, clock, tmux: serverOf(one) }, one, seen);
    const { decision } = end;
    // First, so that whoever reads of the limit finds the account held.
    if (decision.kind === 'wait' && decision.because.code === 'usage-limit')
      holdAccountOf(one, end.at + decision.ms);
    const after = step(one, (newest) => {
      if (newest.launch !== launch || newest.ended >= newest.iteration) return null;
      const booked = bookEnd(newest, end);
      return seq === undefined ? booked : { ...booked, change: { ...booked.change, runSeq: seq } };
    });
    if (after === null) return;
    one.again = true;
    endRunOf(one.worker, after);
    if (!isTold) notices.tell(one.worker, after);
    for (const other of driven.values()) if (other.keptBack && other !== one) void handle(other);
  }

  /** What one worker learned of a usage limit holds for all of the same account. */
  function holdAccountOf(one: Driven, until: number): void {
    const account = accountOfLoop(one.worker, one.loop);
    if (account !== null) holdAccount(env, account, until, clock.now());
  }

  // ── all screens at once ──

  function lookAtAll(): Promise<void> {
    return lookAtScreens(
      env,
      { at: clock.monotonic(), tickMs },
      driven.values(),
      serverOf,
      async (one, { pane, text, tty }) => {
        if (leaving) return;
        const isNew = one.pane?.id !== pane?.id;
        one.pane = pane;
        // Whatever its marks could tell of an agent at work comes by an event, or is seen with the next rereading.
        const goesOn = pane && !pane.dead && !isNew && pane.place.launch === one.loop.launch;
        if (!goesOn) await handle(one);
        if (pane && !pane.dead && !isNew && driven.get(one.name) === one) await watch(one, text, tty);
      },
    );
  }

  async function watch(one: Driven, text: string | undefined, tty: string): Promise<void> {
    if (text === undefined || one.busy || !one.pane) return;
    const time = { now: clock.now(), monotonic: clock.monotonic(), tickMs, tty };
    const seen = lookAtScreen(env, one, text, time);
    if (seen.why) setWhy(one, seen.why);
    const { context } = seen;
    const asks = context?.kind === 'wrap-up';
    if (seen.end === null && !seen.isReady && !asks) return;
    one.busy = true;
    try {
      if (asks) {
        // An agent at work takes what is typed in with its next step.
        await typeIn(env, clock, serverOf(one), one, wrapUpText);
        return tell(one, 'context', `context at ${context.percent} %: asked to wrap up`);
      }
      if (seen.end === null) {
        await typeIn(env, clock, serverOf(one), one, turnOf(env, one).prompt.trimEnd());
        return tell(one, 'prompted', 'the agent was ready and got its prompt');
      }
      if (context?.kind === 'end') {
        const isLast = one.loop.iteration >= one.loop.settings.max_iterations;
        tell(one, 'context', `${context.because}${isLast ? '' : ', restarting'}`);
      }
      const until = seen.until === undefined ? {} : { limitUntil: seen.until };
      await finish(one, { how: seen.end, exitCode: null, ...until });
    } finally {
      one.busy = false;
    }
    await handle(one);
  }

  function tell(one: Driven, type: FleetEvent['type'], text: string): void {
    const event = { at: clock.now(), type, text };
    step(one, ({ launch, lines }) =>
      launch === one.loop.launch ? { change: {}, lines, events: [event] } : null,
    );
  }

  /** Only when nothing is under way: what starts an iteration holds the lock of its loop. */
  async function pauseDriven(): Promise<void> {
    while ([...driven.values()].some(({ busy }) => busy)) await clock.sleep(busyMs);
    reread();
    await Promise.all(
      [...driven.keys()].map(async (name) => {
        try {
          if (await pauseWhenFree(env, name, clock.now(), 'sigterm')) say(`[ralph] ${name}: paused`);
        } catch (error) {
          say(`swarm: error: ${name}: ${messageOf(error)}`);
        }
      }),
    );
  }

  return {
    async run(mayLeave) {
      ensureMarks(env);
      for (const name of listLoops(env)) repairLoop(env, name);
      const stopWatching = watchFolder(fleetPaths(env).marks, (file) => {
        const name = file.replace(/\.(?:started|ended|changed)$/, '');
        if (!/\.(?:ended|changed)$/.test(file)) return;
        const one = driven.get(name);
        if (one === undefined) {
          registry.distrust();
          return wake();
        }
        one.loop = readLoop(env, name) ?? one.loop;
        void handle(one);
      });
      let rereadAt = 0;
      try {
        while (!leaving) {
          if (clock.monotonic() >= rereadAt || registry.isStale()) {
            reread();
            rereadAt = clock.monotonic() + rereadMs;
            await Promise.all([...driven.values()].map(handle));
          }
          await lookAtAll();
          registry.flush();
          if (driven.size === 0 && notices.isEmpty() && mayLeave()) return;
          await nap();
        }
      } finally {
        stopWatching();
        for (const server of servers.values()) server.close();
        for (const one of driven.values()) one.cancelTimer();
        if (leaving) await pauseDriven();
        await notices.sent();
        registry.flush();
      }
    },
    pauseAll() {
      leaving = true;
      wake();
    },
  };
}
