import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFakeClock, systemClock } from './clock.ts';

describe('systemClock', () => {
  afterEach(() => void vi.useRealTimers());

  it('ends a sleep early when the signal aborts, and at once when it already has', async () => {
    const controller = new AbortController();
    const sleep = systemClock.sleep(1e9, controller.signal);
    controller.abort();
    await expect(sleep).resolves.toBeUndefined();
    await expect(systemClock.sleep(1e9, controller.signal)).resolves.toBeUndefined();
  });

  it('does not fire a timer that was cancelled', async () => {
    let fired = 0;
    const cancel = systemClock.timer(1, () => fired++);
    cancel();
    await systemClock.sleep(20);
    expect(fired).toBe(0);
  });

  it('waits for the whole of a time that is longer than a Node timer can be', () => {
    vi.useFakeTimers();
    const fired = vi.fn();
    systemClock.timer(2 ** 31 + 5_000, fired);
    vi.advanceTimersByTime(2 ** 31);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5_000);
    expect(fired).toHaveBeenCalledOnce();
  });

  it('cancels a long timer also after its first part', () => {
    vi.useFakeTimers();
    const fired = vi.fn();
    const cancel = systemClock.timer(2 ** 32, fired);
    vi.advanceTimersByTime(2 ** 31);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('createFakeClock', () => {
  it('stands still until it is moved', async () => {
    const clock = createFakeClock(1000);
    await clock.advance(250);
    expect(clock.now()).toBe(1250);
    expect(clock.monotonic()).toBe(250);
  });

  it('runs timers and sleeps in the order of their time, each at its own time', async () => {
    const clock = createFakeClock(0);
    const seen: string[] = [];
    clock.timer(30, () => seen.push(`timer at ${clock.now()}`));
    void clock.sleep(10).then(() => seen.push(`sleep at ${clock.now()}`));
    clock.timer(30, () => seen.push('second timer of the same time'));
    clock.timer(31, () => seen.push('too late'));
    await clock.advance(30);
    expect(seen).toEqual(['sleep at 10', 'timer at 30', 'second timer of the same time']);
    expect(clock.pending()).toBe(1);
  });

  it('runs in one advance what a sleeper goes on to wait for', async () => {
    const clock = createFakeClock(0);
    const times: number[] = [];
    const loop = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(100);
        times.push(clock.now());
      }
    })();
    await clock.advance(1000);
    await loop;
    expect(times).toEqual([100, 200, 300]);
  });

  it('forgets cancelled timers and aborted sleeps', async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const sleep = clock.sleep(1000, controller.signal);
    clock.timer(1000, () => expect.unreachable())();
    controller.abort();
    await sleep;
    expect(clock.pending()).toBe(0);
    await clock.advance(2000);
  });
});
