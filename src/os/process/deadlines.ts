import type { Clock } from '../clock.ts';

export type Deadlines = {
  /** Restarts the idle time: a sign of life was seen. */
  touch(): void;
  /** Stops the idle time: silence is expected, for instance while a tool runs. */
  pauseIdle(): void;
  resumeIdle(): void;
  /** Starts the grace to exit: the result was seen. */
  finish(): void;
  /** Takes `finish` back: the agent went on. */
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

/** Starts the three time limits of an agent: for silence, for the whole turn, and for the exit after its result. */
export function startDeadlines({ clock, idleMs, hardMs, graceMs, onDeadline }: DeadlineSpec): Deadlines {
  let lastSign = clock.monotonic();
  let idlePaused = false;
  let over = false;
  let cancelIdle: (() => void) | null = null;
  let cancelGrace: (() => void) | null = null;
  const sign = () => {
    lastSign = clock.monotonic();
  };
  const cancelHard = hardMs === null ? null : clock.timer(hardMs, () => onDeadline('hard-timeout'));

  function watchIdle(ms: number, limit: number): void {
    cancelIdle?.();
    cancelIdle = clock.timer(ms, () => {
      // After we were stopped (Ctrl-Z) the agent's output may be waiting: read it before judging.
      const judging = setImmediate(judgeIdle, limit);
      cancelIdle = () => clearImmediate(judging);
    });
  }

  function judgeIdle(limit: number): void {
    cancelIdle = null;
    if (idlePaused || cancelGrace !== null) return;
    const silent = clock.monotonic() - lastSign;
    if (silent < limit) watchIdle(limit - silent, limit);
    else onDeadline('idle');
  }

  function restartIdle(): void {
    sign();
    if (idleMs !== null && cancelIdle === null && !over) watchIdle(idleMs, idleMs);
  }

  restartIdle();

  return {
    touch: sign,
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
