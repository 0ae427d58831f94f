import { systemClock } from '../system/clock.ts';

/** The right to run a loop, as far as the process that runs it knows. */
export type RunnerLease = {
  /** It was good that many milliseconds ago. */
  renewed(age: number): void;
  end(): void;
};

/** Calls `lapsed` once when half of the lease has gone by without a renewal: before another machine may begin. */
export function watchLease(leaseMs: number, lapsed: () => void): RunnerLease {
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
