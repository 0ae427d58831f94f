import { setImmediate as nextTurn } from 'node:timers/promises';

/** The time of a loop. Everything that waits takes one, so that a test can move time by hand. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that never jump: for durations and timeouts. */
  monotonic(): number;
  /** Ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` once after `ms`; the returned function cancels it. */
  timer(ms: number, fn: () => void): () => void;
};

/** A clock that stands still until `advance` moves it. */
export type FakeClock = Clock & {
  /** Moves time on and runs due timers in order; work that one starts gets its turn before the next. */
  advance(ms: number): Promise<void>;
  /** Counts the timers and sleeps that are waiting. */
  pending(): number;
};

// Node fires a longer timer at once.
const longestTimeout = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  sleep: (ms, signal) => sleepWith(startTimer, ms, signal),
  timer: startTimer,
};

export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let time = 0;
  const waiting = new Set<{ readonly at: number; readonly fn: () => void }>();

  function timer(ms: number, fn: () => void): () => void {
    const entry = { at: time + Math.max(0, ms), fn };
    waiting.add(entry);
    return () => waiting.delete(entry);
  }

  function nextDue(until: number) {
    return [...waiting].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  }

  async function advance(ms: number): Promise<void> {
    const until = time + ms;
    await settle();
    for (let entry = nextDue(until); entry !== undefined; entry = nextDue(until)) {
      waiting.delete(entry);
      time = Math.max(time, entry.at);
      entry.fn();
      await settle();
    }
    time = until;
  }

  return {
    now: () => start + time,
    monotonic: () => time,
    sleep: (ms, signal) => sleepWith(timer, ms, signal),
    timer,
    advance,
    pending: () => waiting.size,
  };
}

/** Lets pending promises, file and process events have their turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/** Avoids `performance.now()`, whose first use loads all that measures performance. */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

function startTimer(ms: number, fn: () => void): () => void {
  const due = monotonic() + ms;
  let handle = setTimeout(fire, Math.min(ms, longestTimeout));
  function fire(): void {
    const left = ms <= longestTimeout ? 0 : due - monotonic();
    if (left > 0) handle = setTimeout(fire, Math.min(left, longestTimeout));
    else fn();
  }
  return () => clearTimeout(handle);
}

function sleepWith(timer: Clock['timer'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const cancel = timer(ms, end);
    signal?.addEventListener('abort', end, { once: true });
    function end(): void {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    }
  });
}
