import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { Answer, DriverProcess } from '../../src/cluster/driver-process.ts';
import { watchLease } from '../../src/cluster/lease.ts';
import type { FromDriver } from '../../src/cluster/messages.ts';
import { createWorker } from '../../src/cluster/worker.ts';
import type { Clock } from '../../src/os/clock.ts';

/** A clock that jumps from one timer to the next: an hour of many machines takes as long as their work. */
export type SimulatedClock = Clock & { run(until: number): Promise<void> };

/** Timers are rounded up to this, so that many fire at once. */
const tickMs = 50;

export function simulatedClock(): SimulatedClock {
  let time = 0;
  const slots = new Map<number, Set<() => void>>();
  const times: number[] = [];

  function timer(ms: number, fn: () => void): () => void {
    const at = Math.ceil((time + Math.max(1, ms)) / tickMs) * tickMs;
    const slot = slots.get(at) ?? new Set();
    if (slot.size === 0 && !slots.has(at)) insert(times, at);
    slots.set(at, slot);
    // A function of its own: two timers may share `fn`.
    const entry = () => fn();
    slot.add(entry);
    return () => slot.delete(entry);
  }

  return {
    now: () => 1_800_000_000_000 + time,
    monotonic: () => time,
    timer,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const cancel = timer(ms, end);
        signal?.addEventListener('abort', end, { once: true });
        function end(): void {
          cancel();
          signal?.removeEventListener('abort', end);
          resolve();
        }
      }),
    async run(until) {
      await nextTurn();
      for (let at = times[0]; at !== undefined && at <= until; at = times[0]) {
        times.shift();
        time = at;
        for (const fire of slots.get(at) ?? []) fire();
        slots.delete(at);
        // The store answers in memory: after one turn, nothing is left to do at this moment.
        await nextTurn();
      }
      time = until;
    },
  };
}

/** Inserts into a sorted list. */
function insert(times: number[], at: number): void {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  times.splice(low, 0, at);
}

/** The repository: the iterations on the branch of each loop. A push is a compare-and-swap, as with git. */
export type SimulatedGit = Map<string, number[]>;

type Faults = {
  /** Share of calls to the store that fail, half of them after they were carried out. */
  readonly lostCalls: number;
};

export type SimulatedMachine = {
  /** Ends it without a word, with its agents. */
  kill(): void;
  /** Nothing of it moves until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Its calls to the store fail from now on, or get through again. */
  cut(isCut: boolean): void;
};

type World = {
  readonly clock: SimulatedClock;
  readonly cluster: Cluster;
  readonly git: SimulatedGit;
  readonly random: () => number;
  readonly faults: Faults;
  /** Milliseconds that an iteration takes. */
  readonly iterationMs: () => number;
  /** Is told of every agent that starts and ends. */
  agent(change: 1 | -1, loop: string, host: string): void;
};

/** Starts a machine that runs the code of `swarm worker`; only its clock, its link, its agents and git are simulated. */
export function startMachine(world: World, host: string, slots: number, leaseMs: number): SimulatedMachine {
  const state = { isDead: false, isFrozen: false, isCut: false, waiting: [] as (() => void)[] };
  const clock = machineClock(world.clock, state);
  const cluster = throughLink(world, state);
  const agents = new Set<() => void>();
  const worker = createWorker({
    cluster,
    clock,
    host,
    slots,
    labels: [],
    agents: () => ({}),
    rules: { folder: '/', sandbox: 'none', allowHosts: [], ralph: [], leaseMs },
    say() {},
    start: (runId, hear) => simulatedDriver({ ...world, clock, host, leaseMs, agents }, runId, hear),
  });
  void worker.run();
  return {
    kill() {
      state.isDead = true;
      for (const end of agents) end();
    },
    freeze() {
      state.isFrozen = true;
    },
    thaw() {
      state.isFrozen = false;
      for (const go of state.waiting.splice(0)) go();
    },
    cut(isCut) {
      state.isCut = isCut;
    },
  };
}

type MachineState = { isDead: boolean; isFrozen: boolean; isCut: boolean; waiting: (() => void)[] };

/** Runs `act` now, when the machine thaws, or never if it is dead. */
function onMachine(state: MachineState, act: () => void): void {
  if (state.isDead) return;
  if (state.isFrozen) state.waiting.push(() => onMachine(state, act));
  else act();
}

function machineClock(clock: SimulatedClock, state: MachineState): Clock {
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    timer: (ms, fn) => clock.timer(ms, () => onMachine(state, fn)),
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal);
      await new Promise<void>((resolve) => onMachine(state, resolve));
    },
  };
}

/** The cluster as a machine reaches it. A call of a dead machine never returns. */
function throughLink({ cluster, random, faults }: World, state: MachineState): Cluster {
  const isLost = () => state.isCut || random() < faults.lostCalls / 2;
  return new Proxy(cluster, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== 'function') return call;
      return async (...words: unknown[]) => {
        await new Promise<void>((resolve) => onMachine(state, resolve));
        if (isLost()) throw new Error('no answer');
        const answer: unknown = await Reflect.apply(call, target, words);
        await new Promise<void>((resolve) => onMachine(state, resolve));
        if (isLost()) throw new Error('the answer was lost');
        return answer;
      };
    },
  });
}

type DriverWorld = Omit<World, 'clock'> & {
  readonly clock: Clock;
  readonly host: string;
  readonly leaseMs: number;
  /** Ends what runs there. */
  readonly agents: Set<() => void>;
};

/** The process that drives a loop, with its agent: the lease is watched by the same code. */
function simulatedDriver(
  world: DriverWorld,
  runId: string,
  hear: (message: FromDriver) => void,
): DriverProcess {
  const { clock, git, host, agents } = world;
  const loop = runId.split('/').at(-1) ?? '';
  const branch = git.get(loop) ?? [];
  git.set(loop, branch);
  const answers: Answer[] = [];
  let arrive = () => {};
  const answer = (message: Answer) => {
    answers.push(message);
    arrive();
  };
  let head = branch.length;
  let endAgent = () => {};
  const giveUp = (kind: 'lease' | 'fenced' | 'stopped') => {
    endAgent();
    answer({ type: 'gave-up', kind, why: kind, keptRef: null });
  };
  const lease = watchLease(clock, world.leaseMs, () => giveUp('lease'));

  function run(iteration: number): void {
    const end = { how: 'exited', exitCode: 0, doneMatched: false } as const;
    const message = { type: 'ended', iteration, end, head: 'x' } as const;
    if (branch.includes(iteration)) {
      answer({ ...message, wasOnBranch: true });
      return;
    }
    world.agent(1, loop, host);
    const cancel = clock.timer(world.iterationMs(), () => {
      endAgent();
      if (branch.length !== head) return giveUp('fenced');
      branch.push(iteration);
      head = branch.length;
      answer({ ...message, wasOnBranch: false });
    });
    endAgent = () => {
      endAgent = () => {};
      agents.delete(endNow);
      cancel();
      world.agent(-1, loop, host);
    };
    const endNow = () => endAgent();
    agents.add(endNow);
  }

  return {
    send(message) {
      if (message.type === 'run') run(message.iteration);
      if (message.type === 'renewed') {
        lease.renewed(message.age);
        hear({ type: 'alive' });
      }
      if (message.type === 'stop') giveUp('stopped');
    },
    async answer() {
      for (;;) {
        const message = answers.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          arrive = resolve;
        });
      }
    },
    endIfSilent() {},
    async close() {
      endAgent();
      lease.end();
    },
  };
}
