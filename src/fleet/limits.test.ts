import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountOf, admit, type Candidate } from './limits.ts';

const none = { maxParallel: null, holds: {} };

describe('the limit of a fleet', () => {
  it('lets everything go where there is none', () => {
    expect(admit(loop('a'), [loop('b', { runs: true })], none, 0)).toEqual({ admitted: true });
  });

  it('lets so many go at once, those first who wait longest', () => {
    const limits = { maxParallel: 2, holds: {} };
    const running = loop('a', { runs: true });
    const early = loop('z', { waitsSince: 1 });
    const late = loop('b', { waitsSince: 2 });
    expect(admit(early, [running, late], limits, 5)).toEqual({ admitted: true });
    expect(admit(late, [running, early], limits, 5)).toEqual({
      admitted: false,
      until: null,
      why: { state: 'queued', since: 2, detail: '1 of 2 run' },
    });
  });

  it('does not keep a place for one that waits for its account', () => {
    const limits = { maxParallel: 1, holds: { claude: 100 } };
    const held = loop('a', { account: 'claude', waitsSince: 1 });
    expect(admit(loop('b', { account: 'codex', waitsSince: 2 }), [held], limits, 50)).toEqual({
      admitted: true,
    });
  });

  it('is never passed and never left unused, in whatever order they ask', () => {
    const loops = fc.uniqueArray(
      fc.record({
        name: fc.string({ minLength: 1 }),
        account: fc.constant(null),
        runs: fc.boolean(),
        waitsSince: fc.nat(5),
      }),
      { selector: ({ name }) => name, maxLength: 12 },
    );
    fc.assert(
      fc.property(loops, fc.integer({ min: 1, max: 6 }), (all, maxParallel) => {
        const before = all.filter(({ runs }) => runs).length;
        const started = all.filter(
          (one) =>
            !one.runs &&
            admit(
              one,
              all.filter((other) => other !== one),
              { maxParallel, holds: {} },
              9,
            ).admitted,
        ).length;
        const room = Math.max(0, maxParallel - before);
        expect(started).toBe(Math.min(room, all.length - before));
      }),
    );
  });
});

describe('the usage limit of an account', () => {
  const holds = { claude: 100 };

  it('holds all loops of the account until it ends', () => {
    const one = loop('a', { account: 'claude' });
    expect(admit(one, [], { ...none, holds }, 99)).toMatchObject({
      admitted: false,
      until: 100,
      why: { state: 'limit', until: 100, detail: 'the account claude is at its usage limit' },
    });
    expect(admit(one, [], { ...none, holds }, 100)).toEqual({ admitted: true });
  });

  it('does not concern others', () => {
    expect(admit(loop('a', { account: 'codex' }), [], { ...none, holds }, 99)).toEqual({ admitted: true });
    expect(admit(loop('a'), [], { ...none, holds }, 99)).toEqual({ admitted: true });
  });
});

describe('the account of a worker', () => {
  it('is that of its agent, or the one that was named', () => {
    expect(accountOf(['/opt/bin/claude', '-p'], {})).toBe('claude');
    expect(accountOf(['./mine.sh'], {})).toBeNull();
    expect(accountOf(['./mine.sh'], {}, 'team')).toBe('team');
  });

  it('is another where the worker has a login of its own, which it does not show', () => {
    const own = accountOf(['claude'], { ANTHROPIC_API_KEY: 'sk-secret' });
    expect(own).toMatch(/^claude#[0-9a-f]{8}$/);
    expect(own).toBe(accountOf(['claude'], { ANTHROPIC_API_KEY: 'sk-secret', OTHER: 'x' }));
    expect(own).not.toBe(accountOf(['claude'], { ANTHROPIC_API_KEY: 'sk-other' }));
    expect(accountOf(['claude'], { OTHER: 'x' })).toBe('claude');
  });
});

function loop(name: string, part: Partial<Candidate> = {}): Candidate {
  return { name, account: null, runs: false, waitsSince: 0, ...part };
}
