import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../clock.ts';
import { startDeadlines } from './deadlines.ts';

function start(spec: { idleMs?: number; hardMs?: number; graceMs?: number } = {}) {
  const clock = createFakeClock(0);
  const seen: string[] = [];
  const deadlines = startDeadlines({
    clock,
    idleMs: spec.idleMs ?? null,
    hardMs: spec.hardMs ?? null,
    graceMs: spec.graceMs ?? 50,
    onDeadline: (cause) => seen.push(`${cause} at ${clock.now()}`),
  });
  return { clock, seen, ...deadlines };
}

describe('startDeadlines', () => {
  it('reports silence once the idle time has passed since the last sign of life', async () => {
    const { clock, seen, touch } = start({ idleMs: 100 });
    await clock.advance(60);
    touch();
    await clock.advance(99);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['idle at 160']);
  });

  it('keeps one timer however many signs of life come', async () => {
    const { clock, touch } = start({ idleMs: 100 });
    for (let i = 0; i < 1000; i++) touch();
    expect(clock.pending()).toBe(1);
  });

  it('allows silence while it is paused and counts anew afterwards', async () => {
    const { clock, seen, pauseIdle, resumeIdle } = start({ idleMs: 100 });
    pauseIdle();
    await clock.advance(1000);
    resumeIdle();
    await clock.advance(99);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['idle at 1100']);
  });

  it('does not judge before output that waited during a stop of ourselves is read', async () => {
    const clock = createFakeClock(0);
    const seen: string[] = [];
    let fire = () => {};
    const timer = (_ms: number, fn: () => void) => {
      fire = fn;
      return () => {};
    };
    const { touch } = startDeadlines({
      clock: { ...clock, timer },
      idleMs: 100,
      hardMs: null,
      graceMs: 50,
      onDeadline: (cause) => seen.push(cause),
    });
    await clock.advance(5000);
    fire();
    touch();
    await nextTurn();
    expect(seen).toEqual([]);
    await clock.advance(100);
    fire();
    await nextTurn();
    expect(seen).toEqual(['idle']);
  });

  it('reports the hard timeout whatever the signs of life', async () => {
    const { clock, seen, touch } = start({ idleMs: 100, hardMs: 250 });
    for (let i = 0; i < 5; i++) {
      await clock.advance(50);
      touch();
    }
    expect(seen).toEqual(['hard-timeout at 250']);
  });

  it('gives the grace after the result, silent or not', async () => {
    const { clock, seen, finish } = start({ idleMs: 10, graceMs: 50 });
    finish();
    await clock.advance(50);
    expect(seen).toEqual(['finished at 50']);
  });

  it('goes on as before when it is reopened', async () => {
    const { clock, seen, finish, reopen } = start({ idleMs: 100, graceMs: 50 });
    finish();
    await clock.advance(40);
    reopen();
    await clock.advance(99);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['idle at 140']);
  });

  it('leaves no timer behind, also when calls come late', async () => {
    const { clock, seen, clear, finish, reopen, resumeIdle } = start({ idleMs: 10, hardMs: 20 });
    clear();
    reopen();
    resumeIdle();
    finish();
    expect(clock.pending()).toBe(0);
    await clock.advance(1000);
    expect(seen).toEqual([]);
  });
});
