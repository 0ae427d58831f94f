import { type Clock, systemClock } from '../os/clock.ts';
import type { Claim, Cluster } from './cluster.ts';
import type { DriverProcess } from './driver-process.ts';

/** What `keepLease` needs of the process that holds a loop. */
type LeaseHolder = {
  readonly cluster: Pick<Cluster, 'heartbeat'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly driver: Pick<DriverProcess, 'send' | 'endIfSilent'>;
  /** The claim to renew. */
  current(): Claim;
  /** True while the end of an iteration is booked. */
  isBooking(): boolean;
  /** Somebody cancelled the loop. */
  cancelled(): void;
};

/** Renews the lease four times in its length, and tells the driver, which ends the agent if that stops. */
export function keepLease(holder: LeaseHolder): { renewNow(): void; end(): void } {
  const { clock, leaseMs } = holder;
  const over = new AbortController();
  let nap = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      const startedAt = clock.monotonic();
      // Before the renewal, so that one that is asked for meanwhile follows at once.
      nap = new AbortController();
      await renewOnce(holder, over.signal);
      const pauseMs = leaseMs / 4 - (clock.monotonic() - startedAt);
      await clock.sleep(Math.max(0, pauseMs), AbortSignal.any([nap.signal, over.signal]));
    }
  })();
  return { renewNow: () => nap.abort(), end: () => over.abort() };
}

async function renewOnce(holder: LeaseHolder, over: AbortSignal): Promise<void> {
  const { cluster, clock, driver, current, isBooking, cancelled } = holder;
  const startedAt = clock.monotonic();
  const claim = current();
  const beat = await cluster.heartbeat(claim).catch(() => null);
  if (over.aborted || beat === null) return;
  if (beat.kind === 'go-on') {
    driver.send({ type: 'renewed', age: clock.monotonic() - startedAt });
    driver.endIfSilent();
    return;
  }
  // The store may know of the next claim before we do.
  if (isBooking() || current() !== claim) return;
  if (beat.kind === 'cancelled') cancelled();
  const why = beat.kind === 'cancelled' ? 'somebody cancelled the loop' : 'another machine has the loop';
  driver.send({ type: 'stop', why });
}

/** The lease as the driver sees it. */
export type LeaseWatch = {
  /** The lease was good `age` milliseconds ago. */
  renewed(age: number): void;
  end(): void;
};

/** Calls `lapsed` once after half a lease without a renewal: before another machine may begin. */
export function watchLease(leaseMs: number, lapsed: () => void): LeaseWatch {
  let goodAt = systemClock.monotonic();
  let cancel = () => {};
  const look = () => {
    const remainingMs = goodAt + leaseMs / 2 - systemClock.monotonic();
    if (remainingMs <= 0) lapsed();
    else cancel = systemClock.timer(remainingMs, look);
  };
  look();
  return {
    renewed(age) {
      goodAt = Math.max(goodAt, systemClock.monotonic() - age);
    },
    end: () => cancel(),
  };
}
