import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newRecord } from './files/loop-record.ts';
import { isInIteration, type LoopRecord } from './files/loops.ts';
import { accountOf, obstacleAmong } from './limits.ts';

const none = { maxParallel: null, holds: {} };

describe('the limit of a fleet', () => {
  it('lets everything go where there is none', () => {
    expect(obstacleAmong(loop('a'), [loop('b', { runs: true })], none, 0)).toBeNull();
  });

  it('lets so many go at once, those first who wait longest', () => {
    const limits = { maxParallel: 2, holds: {} };
    const running = loop('a', { runs: true });
    const early = loop('z', { waitsSince: 1 });
    const late = loop('b', { waitsSince: 2 });
    expect(obstacleAmong(early, [running, late], limits, 5)).toBeNull();
    expect(obstacleAmong(late, [running, early], limits, 5)).toEqual({
      until: null,
      why: { state: 'queued', since: 2, detail: '1 of 2 run' },
    });
  });

  it('does not keep a place for one that waits for its account', () => {
    const limits = { maxParallel: 1, holds: { claude: 100 } };
    const held = loop('a', { account: 'claude', waitsSince: 1 });
    expect(obstacleAmong(loop('b', { account: 'codex', waitsSince: 2 }), [held], limits, 50)).toBeNull();
  });

  it('is never passed and never left unused, in whatever order they ask', () => {
    const loops = fc.uniqueArray(
      fc
        .record({ name: fc.string({ minLength: 1 }), runs: fc.boolean(), waitsSince: fc.nat(5) })
        .map(({ name, ...part }) => loop(name, part)),
      { selector: ({ name }) => name, maxLength: 12 },
    );
    fc.assert(
      fc.property(loops, fc.integer({ min: 1, max: 6 }), (all, maxParallel) => {
        const before = all.filter(isInIteration).length;
        const started = all.filter(
          (one) =>
            !isInIteration(one) &&
            obstacleAmong(
              one,
              all.filter((other) => other !== one),
              { maxParallel, holds: {} },
              9,
            ) === null,
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
    expect(obstacleAmong(one, [], { ...none, holds }, 99)).toMatchObject({
      until: 100,
      why: { state: 'limit', until: 100, detail: 'the account claude is at its usage limit' },
    });
    expect(obstacleAmong(one, [], { ...none, holds }, 100)).toBeNull();
  });

  it('does not concern others', () => {
    expect(obstacleAmong(loop('a', { account: 'codex' }), [], { ...none, holds }, 99)).toBeNull();
    expect(obstacleAmong(loop('a'), [], { ...none, holds }, 99)).toBeNull();
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

type Part = { readonly account?: string; readonly runs?: boolean; readonly waitsSince?: number };

function loop(name: string, { account, runs = false, waitsSince = 0 }: Part = {}): LoopRecord {
  const settings = { prompt_file: 'p', max_iterations: 9, done_pattern: null, inactivity_timeout: 60 };
  const options = account === undefined ? {} : { account };
  const record = newRecord(name, { settings, options, held: false }, waitsSince);
  return { ...record, iteration: runs ? 1 : 0 };
}
