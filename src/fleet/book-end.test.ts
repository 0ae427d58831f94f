import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bookEnd, duration } from './book-end.ts';
import { decisionOn, maxFailures } from './decide-turn.ts';
import { type LoopRecord, newRecord } from './files/loop-record.ts';
import type { IterationEnd } from './iteration-end.ts';

const settings = { prompt_file: '/p.md', max_iterations: 10, done_pattern: 'DONE', inactivity_timeout: 60 };
const running = {
  ...newRecord('a', { settings, options: {}, held: false }, 0),
  iteration: 3,
  ended: 2,
  launch: 7,
  iterationStartedAt: 1000,
};
const book = (loop: LoopRecord, end: IterationEnd) =>
  bookEnd(loop, { ...end, decision: decisionOn(loop, end) });
const exited: IterationEnd = { at: 223_000, how: 'exited', exitCode: 0, doneMatched: false };

describe('the end of an iteration', () => {
  it('is followed by the next one', () => {
    const step = book(running, exited);
    expect(step.change).toMatchObject({ iteration: 3, ended: 3, failures: 0, waitUntil: null });
    expect(step.lines?.[0]).toMatch(/ \[END\] iteration 3 exit=0 duration=3m42s$/);
    expect(step.events?.[0]?.text).toBe('iteration 3 completed (exit: 0, duration: 3m 42s)');
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
  ])('with failure %i waits %i seconds', (failures, seconds) => {
    const step = book({ ...running, failures: failures - 1 }, { ...exited, exitCode: 1 });
    const waitUntil = exited.at + seconds * 1000;
    expect(step.change).toMatchObject({ waitUntil, failures, totalFailures: 1, why: { state: 'backoff' } });
    expect(step.events?.[0]?.text).toBe(
      `iteration 3 failed (exit: 1), retrying in ${seconds}s (attempt ${failures}/5)`,
    );
  });

  it('with the fifth failure is the end of the loop', () => {
    const step = book({ ...running, failures: 4 }, { ...exited, exitCode: 1 });
    expect(step.change).toMatchObject({ status: 'failed', failures: 5, end: { exitCode: 3 } });
    expect(step.events?.at(-1)?.text).toBe('5 consecutive failures, stopping loop');
  });

  it('of the last iteration, or of a paused loop, promises no other', () => {
    const texts = (loop: typeof running, end: IterationEnd) => {
      const { lines, events } = book(loop, end);
      return [...(lines ?? []), ...(events ?? []).map(({ text }) => text)].join('\n');
    };
    const last = { ...running, iteration: 10, ended: 9 };
    const paused: typeof running = { ...running, status: 'paused' };
    for (const loop of [last, paused]) {
      expect(texts(loop, { ...exited, exitCode: 1 })).not.toMatch(/retrying|backoff/);
      expect(texts(loop, { ...exited, how: 'inactive', exitCode: null })).not.toContain('restarting');
    }
  });

  it('has an exit code only where one is known, and says where the window was lost', () => {
    const ofKind = (how: IterationEnd['how']) => book(running, { ...exited, how, exitCode: null });
    expect(ofKind('done').lines?.[0]).toContain('[END] iteration 3 exit=unknown ');
    const lost = ofKind('lost');
    expect(lost.lines?.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      '[END] iteration 3 exit=unknown duration=3m42s',
      '[FAIL] iteration 3 exit=unknown attempt=1/5 backoff=1s',
    ]);
    expect(lost.events?.[0]?.text).toBe('iteration 3 failed (window lost), retrying in 1s (attempt 1/5)');
    expect(lost.change.why).toMatchObject({ state: 'backoff', detail: 'window lost' });
  });

  it('by silence is no failure', () => {
    const step = book({ ...running, failures: 2 }, { ...exited, how: 'inactive', exitCode: null });
    expect(step.change).toMatchObject({ waitUntil: null, failures: 0, totalFailures: 0 });
    expect(step.events?.[0]?.text).toBe('inactivity timeout (60s), restarting');
  });

  it('at the maximum ends the loop, and a match on it is a match', () => {
    const last = { ...running, iteration: 10, ended: 9 };
    expect(book(last, exited).lines?.at(-1)).toContain('reason=max_iterations');
    const matched = book(last, { ...exited, exitCode: 3, doneMatched: true });
    expect(matched.change).toMatchObject({ status: 'stopped', end: { exitCode: 0 } });
    expect(matched.lines?.at(-1)).toContain('reason=done_pattern');
    const outcomes = [book(last, exited), matched].map(({ change, events }) => [
      change.end?.outcome,
      events?.at(-1)?.outcome,
    ]);
    expect(outcomes).toEqual([
      ['MAX_ITERATIONS_REACHED', 'MAX_ITERATIONS_REACHED'],
      ['PROMISE_ACCEPTED', 'PROMISE_ACCEPTED'],
    ]);
  });

  it('of a paused loop is booked, and nothing follows', () => {
    const paused = { ...running, status: 'paused' } as const;
    const { change } = book(paused, exited);
    expect(change).toMatchObject({ ended: 3, why: { state: 'paused' } });
    expect(change).not.toHaveProperty('status');
    expect(book(paused, { ...exited, doneMatched: true }).change.status).toBe('stopped');
  });

  it('by a usage limit makes the same iteration run again when it is over', () => {
    const limited: IterationEnd = {
      ...exited,
      how: 'limited',
      exitCode: null,
      limitUntil: exited.at + 60_000,
    };
    expect(book(running, limited).change).toMatchObject({
      waitUntil: exited.at + 60_000,
      iteration: 2,
      ended: 2,
      failures: 0,
      why: { state: 'limit' },
    });
  });

  it('of a run is what the run decided, whatever its process looked like', () => {
    const counts = {
      because: { code: 'turn-failed', text: 'no' },
      iterations: 3,
      failures: 6,
      maxFailures: 9,
    };
    const failed = { ...running, failures: 5 };
    const waits = book(failed, { ...exited, decision: { kind: 'wait', ms: 32_000, ...counts } });
    expect(waits.change).toMatchObject({ waitUntil: exited.at + 32_000, failures: 6, totalFailures: 1 });
    expect(waits.events?.[0]?.text).toContain('retrying in 32s (attempt 6/9)');
    const because = { code: 'not-started', text: 'no such agent' };
    const stop = { kind: 'stop', outcome: 'AGENT_FAILED', ...counts, because } as const;
    expect(book(failed, { ...exited, decision: stop }).change).toMatchObject({
      status: 'failed',
      end: { outcome: 'AGENT_FAILED', exitCode: 3, because },
    });
  });

  it('always leaves a loop that is open or over, with every iteration booked', () => {
    const ends = fc.record({
      at: fc.integer({ min: 1000, max: 10_000_000 }),
      how: fc.constantFrom('exited', 'inactive', 'done', 'lost', 'limited', 'wrapped-up'),
      exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
      doneMatched: fc.boolean(),
    });
    fc.assert(
      fc.property(
        ends,
        fc.nat(maxFailures - 1),
        fc.integer({ min: 1, max: 10 }),
        (end, failures, iteration) => {
          const loop = { ...running, failures, iteration, ended: iteration - 1 };
          const { change, lines } = book(loop, end as IterationEnd);
          expect(change.ended).toBe(change.iteration);
          expect(change.status === undefined).toBe((change.end ?? null) === null);
          expect(lines?.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe('a duration', () => {
  it('has hours, minutes and seconds as far as they are needed', () => {
    expect([0, 59_999, 342_000, 3_600_000].map((ms) => duration(ms, ''))).toEqual([
      '0s',
      '59s',
      '5m42s',
      '1h0s',
    ]);
    expect(duration(222_000, ' ')).toBe('3m 42s');
  });
});
