import type { Clock } from '../clock.ts';

export type Deadlines = {
  /** A sign of life: the idle time starts anew. */
  touch(): void;
  /** Silence is expected, for instance while a tool runs. */
  pauseIdle(): void;
  resumeIdle(): void;
  /** The result was seen: it may exit by itself within the grace. */
  finish(): void;
  /** It went on after all: takes `finish` back. */
  reopen(): void;
  /** Ends all of them for good; the other calls do nothing from now on. */
  clear(): void;
};

export type DeadlineSpec = {
  readonly clock: Clock;
  readonly idleMs: number | null;
  readonly hardMs: number | null;
  readonly graceMs: number;
  readonly onDeadline: (cause: 'idle' | 'hard-timeout' | 'finished') => void;
};

/** The three clocks that run beside an agent: silence, the whole turn, and the grace after its result. */
export function startDeadlines({ clock, idleMs, hardMs, graceMs, onDeadline }: DeadlineSpec): Deadlines {
  let lastSign = clock.monotonic();
  let idlePaused = false;
  let over = false;
  let cancelIdle: (() => void) | null = null;
  let cancelGrace: (() => void) | null = null;
  const cancelHard = hardMs === null ? null : clock.timer(hardMs, () => onDeadline('hard-timeout'));

  function watchIdle(ms: number): void {
    if (idleMs === null) return;
    cancelIdle?.();
    cancelIdle = clock.timer(ms, () => {
      // After a stop of ourselves (Ctrl-Z) the agent's output may be waiting: it is read before we judge.
      const judging = setImmediate(judgeIdle, idleMs);
      cancelIdle = () => clearImmediate(judging);
    });
  }

  function judgeIdle(limit: number): void {
    cancelIdle = null;
    if (idlePaused || cancelGrace !== null) return;
    const silent = clock.monotonic() - lastSign;
    if (silent < limit) watchIdle(limit - silent);
    else onDeadline('idle');
  }

  /** Counts silence from now, with a timer in place. */
  function restartIdle(): void {
    lastSign = clock.monotonic();
    if (idleMs !== null && cancelIdle === null && !over) watchIdle(idleMs);
  }

  restartIdle();

  return {
    touch() {
      lastSign = clock.monotonic();
    },
    pauseIdle() {
      idlePaused = true;
    },
    resumeIdle() {
      idlePaused = false;
      restartIdle();
    },
    finish() {
      if (!over) cancelGrace ??= clock.timer(graceMs, () => onDeadline('finished'));
    },
    reopen() {
      cancelGrace?.();
      cancelGrace = null;
      restartIdle();
    },
    clear() {
      over = true;
      cancelHard?.();
      cancelIdle?.();
      cancelGrace?.();
    },
  };
}
