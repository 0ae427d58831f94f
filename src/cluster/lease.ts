import type { Clock } from '../os/clock.ts';
import type { Cluster } from './cluster.ts';
import type { DriverProcess } from './driver-process.ts';
import type { Claim } from './entries.ts';

/** What `keepLease` needs of the process that holds a loop. */
type LeaseHolder = {
  readonly cluster: Pick<Cluster, 'heartbeat'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly driver: Pick<DriverProcess, 'send' | 'endIfSilent'>;
  /** The first claim: those that follow have the same lease. */
  readonly claim: Claim;
  /** Somebody cancelled the loop. */
  cancelled(): void;
};

/**
 * Renews the lease ten times in its length, and tells the driver, which ends the agent if that stops. The returned
 * function ends it.
 */
export function keepLease(holder: LeaseHolder): () => void {
  const { clock, leaseMs } = holder;
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      // Waits for no answer: one that is lost must not hold up the next, which may go over another connection.
      void renewOnce(holder, over.signal);
      await clock.sleep(leaseMs / 10, over.signal);
    }
  })();
  return () => over.abort();
}

async function renewOnce(holder: LeaseHolder, over: AbortSignal): Promise<void> {
  const { cluster, clock, driver, claim, cancelled } = holder;
  const startedAt = clock.monotonic();
  const beat = await cluster.heartbeat(claim).catch(() => null);
  if (over.aborted || beat === null) return;
  if (beat.kind === 'go-on') {
    driver.send({ type: 'renewed', age: clock.monotonic() - startedAt });
    driver.endIfSilent();
    return;
  }
  if (beat.kind === 'cancelled') cancelled();
  const why = beat.kind === 'cancelled' ? 'somebody cancelled the loop' : 'another machine has the loop';
  driver.send({ type: 'stop', why });
}

/** The lease as the driver sees it. */
export type LeaseWatch = ReturnType<typeof watchLease>;

/** Calls `lapsed` once after nine tenths of a lease without a renewal: before another machine may begin. */
export function watchLease(clock: Clock, leaseMs: number, lapsed: () => void) {
  let goodAt = clock.monotonic();
  let cancel = () => {};
  const look = () => {
    const remainingMs = goodAt + 0.9 * leaseMs - clock.monotonic();
    if (remainingMs <= 0) lapsed();
    else cancel = clock.timer(remainingMs, look);
  };
  look();
  return {
    /** The lease was good `age` milliseconds ago. */
    renewed(age: number) {
      goodAt = Math.max(goodAt, clock.monotonic() - age);
    },
    end: () => cancel(),
  };
}
