import { messageOf } from '../core/error.ts';
import { freeBytes } from '../os/files/disk-space.ts';
import type { Claim } from './entries.ts';
import { type Fault, type HoldSpec, holdLoop } from './hold.ts';
import { wholeMachine } from './queues.ts';
import { answerRequests } from './records.ts';

export type WorkerSpec = Omit<HoldSpec, 'leaving' | 'stop'> & {
  readonly host: string;
  readonly labels: readonly string[];
  /** Agents that this machine has now; nothing if a container has them. */
  agents(): { readonly agents?: readonly string[] };
  /** Loops at the same time. */
  readonly slots: number;
};

const pollMs = 500;
const longestPauseMs = 4000;
/** Time after which something that did not work is tried again. */
const tryAgainMs = { agent: 10 * 60_000, machine: 60_000 } as const;
const leastFreeBytes = 32 * 1024 * 1024;

/** Takes loops of a cluster and holds them on this machine. */
export function createWorker(spec: WorkerSpec) {
  const { cluster, clock, host, slots } = spec;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const loops = new Set<Promise<void>>();
  const faults = collectFaults(spec);
  const ask = createAsk(spec, faults.now);
  let wake = () => {};

  /** Sleeps until something changes, but no longer than `ms`. */
  async function nap(ms: number): Promise<void> {
    const sleeping = new AbortController();
    wake = () => sleeping.abort();
    await clock.sleep(ms, sleeping.signal);
  }

  async function takeLoops(): Promise<void> {
    while (!leaving.signal.aborted) {
      const isFree = loops.size < slots;
      const { claim, pauseMs } = isFree ? await ask() : { claim: null, pauseMs: pollMs };
      if (claim === null) {
        await nap(pauseMs);
        continue;
      }
      const loop = hold({ ...spec, leaving: leaving.signal, stop: stopping.signal }, claim).then((fault) => {
        if (fault !== null) faults.add(fault);
        loops.delete(loop);
        wake();
      });
      loops.add(loop);
    }
  }

  return {
    /** Takes loops until `leave`; resolves when none is left. */
    async run() {
      const over = new AbortController();
      const { folder } = spec.rules;
      const answering = answerRequests(cluster, { host, folder, clock, over: over.signal });
      await takeLoops();
      await Promise.all(loops);
      over.abort();
      await answering;
    },
    /** Takes no more loops; those it has move on after their iteration. */
    leave() {
      leaving.abort();
      wake();
    },
    /** Ends the agents now. */
    stop() {
      leaving.abort();
      stopping.abort();
      wake();
    },
  };
}

/** Remembers for a while what does not work on this machine. A full disk is seen before it does harm. */
function collectFaults({ clock, say, rules }: WorkerSpec) {
  const faults = new Map<string, { readonly why: string; readonly until: number }>();
  const add = ({ kind, why }: Fault) => {
    if (!faults.has(kind))
      say(`takes no ${kind === wholeMachine ? 'loops' : `loops of ${kind}`} for now: ${why}`);
    const ms = kind === wholeMachine ? tryAgainMs.machine : tryAgainMs.agent;
    faults.set(kind, { why, until: clock.monotonic() + ms });
  };
  return {
    add,
    now(): Record<string, string> {
      const free = freeBytes(rules.folder);
      if (free !== null && free < leastFreeBytes) add({ kind: wholeMachine, why: 'its disk is full' });
      for (const [kind, { until }] of faults) if (clock.monotonic() >= until) faults.delete(kind);
      return Object.fromEntries([...faults].map(([kind, { why }]) => [kind, why]));
    },
  };
}

/** Holds a loop to its end; returns what is wrong with this machine. */
async function hold(spec: HoldSpec, claim: Claim): Promise<Fault | null> {
  try {
    return await holdLoop(spec, claim);
  } catch (error) {
    spec.say(`${claim.name}: ${messageOf(error)}`);
    const setback = { kind: 'unprepared', why: messageOf(error) } as const;
    await spec.cluster.giveBack(claim, setback).catch(() => {});
    return null;
  }
}

/** Returns a function that claims a loop. It says once that the store is away, and pauses longer until that answers. */
function createAsk({ cluster, host, labels, agents, say }: WorkerSpec, faults: () => Record<string, string>) {
  let failures = 0;
  return async () => {
    let claim: Claim | null = null;
    try {
      claim = await cluster.claim({ host, labels, ...agents(), faults: faults() });
      if (failures > 0) say('the store answers again');
      failures = 0;
    } catch (error) {
      if (failures++ === 0) say(`the store does not answer, trying again: ${messageOf(error)}`);
    }
    return { claim, pauseMs: Math.min(pollMs * 2 ** failures, longestPauseMs) };
  };
}
