import { type Clock, systemClock } from '../os/clock.ts';
import type { Claim, Cluster } from './cluster.ts';
import type { DriverProcess } from './driver-process.ts';

/** What `keepLease` needs of the process that holds a loop. */
type LeaseHolder = {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly driver: DriverProcess;
  /** The claim to renew; null while its end is booked, when the store may know of it before we do. */
  current(): Claim | null;
  /** Somebody cancelled the loop. */
  cancelled(): void;
};

/** Renews the lease four times in its length, and tells the driver, which ends the agent if that stops. */
export function keepLease(holder: LeaseHolder): { end(): void } {
  const { cluster, clock, leaseMs, driver, current, cancelled } = holder;
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      const asked = clock.monotonic();
      const claim = current();
      const answer = claim === null ? null : await cluster.heartbeat(claim).catch(() => null);
      if (over.signal.aborted) return;
      // An answer about an earlier claim says nothing.
      const beat = current() === claim ? answer : null;
      if (beat?.kind === 'go-on') {
        driver.send({ type: 'renewed', age: clock.monotonic() - asked });
        driver.endIfSilent();
      }
      if (beat?.kind === 'cancelled') {
        cancelled();
        driver.send({ type: 'stop', why: 'somebody cancelled the loop' });
      }
      if (beat?.kind === 'lost') driver.send({ type: 'stop', why: 'another machine has the loop' });
      await clock.sleep(Math.max(0, leaseMs / 4 - (clock.monotonic() - asked)), over.signal);
    }
  })();
  return { end: () => over.abort() };
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
    const left = goodAt + leaseMs / 2 - systemClock.monotonic();
    if (left <= 0) lapsed();
    else cancel = systemClock.timer(left, look);
  };
  look();
  return {
    renewed(age) {
      goodAt = Math.max(goodAt, systemClock.monotonic() - age);
    },
    end: () => cancel(),
  };
}
