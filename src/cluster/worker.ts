import { messageOf } from '../core/error.ts';
import type { Claim } from './cluster.ts';
import { type HoldSpec, holdLoop } from './hold.ts';
import { answerRequests } from './records.ts';

export type WorkerSpec = Omit<HoldSpec, 'leaving' | 'stop'> & {
  readonly host: string;
  readonly labels: readonly string[];
  /** Loops at the same time. */
  readonly slots: number;
};

export type ClusterWorker = {
  /** Takes loops until `leave`; resolves when none is left. */
  run(): Promise<void>;
  /** Takes no more loops; those it has move on after their iteration. */
  leave(): void;
  /** Ends the agents now. */
  stop(): void;
};

const pollMs = 500;
const longestPauseMs = 4000;
/** Pause after a loop that failed here, so that other machines go first. */
const restMs = 15_000;

/** Takes loops of a cluster and holds them on this machine. */
export function createWorker(spec: WorkerSpec): ClusterWorker {
  const { cluster, clock, host, slots } = spec;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const loops = new Set<Promise<void>>();
  const ask = createAsk(spec);
  let wake = () => {};
  let restUntil = 0;

  /** Sleeps until something changes, but no longer than `ms`. */
  async function nap(ms: number): Promise<void> {
    const sleeping = new AbortController();
    wake = () => sleeping.abort();
    await clock.sleep(ms, sleeping.signal);
  }

  async function takeLoops(): Promise<void> {
    while (!leaving.signal.aborted) {
      const isFree = loops.size < slots && clock.monotonic() >= restUntil;
      const { claim, pauseMs } = isFree ? await ask() : { claim: null, pauseMs: pollMs };
      if (claim === null) {
        await nap(pauseMs);
        continue;
      }
      const loop = hold({ ...spec, leaving: leaving.signal, stop: stopping.signal }, claim).then((rests) => {
        if (rests) restUntil = clock.monotonic() + restMs;
        loops.delete(loop);
        wake();
      });
      loops.add(loop);
    }
  }

  return {
    async run() {
      const over = new AbortController();
      const answering = answerRequests(cluster, {
        host,
        folder: spec.rules.folder,
        clock,
        over: over.signal,
      });
      await takeLoops();
      await Promise.all(loops);
      over.abort();
      await answering;
    },
    leave() {
      leaving.abort();
      wake();
    },
    stop() {
      leaving.abort();
      stopping.abort();
      wake();
    },
  };
}

/** Holds a loop to its end; true if this machine should rest after it. */
async function hold(spec: HoldSpec, claim: Claim): Promise<boolean> {
  try {
    return await holdLoop(spec, claim);
  } catch (error) {
    spec.say(`${claim.name}: ${messageOf(error)}`);
    await spec.cluster.giveBack(claim).catch(() => {});
    return true;
  }
}

/** Returns a function that claims a loop. It says once that the store is away, and pauses longer until that answers. */
function createAsk({ cluster, host, labels, say }: WorkerSpec) {
  let failures = 0;
  return async () => {
    let claim: Claim | null = null;
    try {
      claim = await cluster.claim({ host, labels });
      if (failures > 0) say('the store answers again');
      failures = 0;
    } catch (error) {
      if (failures++ === 0) say(`the store does not answer, trying again: ${messageOf(error)}`);
    }
    return { claim, pauseMs: Math.min(pollMs * 2 ** failures, longestPauseMs) };
  };
}
