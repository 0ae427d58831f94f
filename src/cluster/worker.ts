import { messageOf } from '../core/error.ts';
import type { Claim } from './cluster.ts';
import { type HoldSpec, holdLoop } from './hold.ts';
import { answerLetters } from './records.ts';

export type WorkerSpec = Omit<HoldSpec, 'leaving' | 'stop'> & {
  readonly host: string;
  readonly labels: readonly string[];
  /** Loops at the same time. */
  readonly slots: number;
};

export type ClusterWorker = {
  /** Takes loops until it is told to leave, and comes back when none is left. */
  run(): Promise<void>;
  /** No more loops; those it has move on after their iteration. */
  leave(): void;
  /** Ends the agents now. */
  stop(): void;
};

const pollMs = 500;
const longestPauseMs = 4000;
/** After a loop that could not be run here, others first. */
const restMs = 15_000;

/** A machine of a cluster. */
export function createWorker(spec: WorkerSpec): ClusterWorker {
  const { cluster, clock, host, labels, slots, say } = spec;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const held = new Set<Promise<void>>();
  let wake = () => {};
  let restUntil = 0;

  async function hold(claim: Claim): Promise<void> {
    try {
      const parted = await holdLoop({ ...spec, leaving: leaving.signal, stop: stopping.signal }, claim);
      if (parted.rest) restUntil = clock.monotonic() + restMs;
    } catch (error) {
      say(`${claim.name}: ${messageOf(error)}`);
      restUntil = clock.monotonic() + restMs;
      await cluster.giveBack(claim).catch(() => {});
    }
  }

  /** Until something changes, but no longer than that. */
  async function nap(ms: number): Promise<void> {
    const sleeping = new AbortController();
    wake = () => sleeping.abort();
    await clock.sleep(ms, sleeping.signal);
  }

  async function takeLoops(): Promise<void> {
    let failures = 0;
    while (!leaving.signal.aborted) {
      if (held.size >= slots || clock.monotonic() < restUntil) {
        await nap(pollMs);
        continue;
      }
      let claim: Claim | null = null;
      try {
        claim = await cluster.claim({ host, labels });
        if (failures > 0) say('the store answers again');
        failures = 0;
      } catch (error) {
        if (failures++ === 0) say(`the store does not answer, trying again: ${messageOf(error)}`);
      }
      if (claim === null) {
        await nap(Math.min(pollMs * 2 ** failures, longestPauseMs));
        continue;
      }
      const holding = hold(claim).finally(() => {
        held.delete(holding);
        wake();
      });
      held.add(holding);
    }
  }

  return {
    async run() {
      const over = new AbortController();
      const letters = answerLetters(cluster, { host, folder: spec.rules.folder, clock, over: over.signal });
      await takeLoops();
      await Promise.all(held);
      over.abort();
      await letters;
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
