import { describe, expect, it } from 'vitest';
import { missing } from '../support/stores.ts';
import { type Case, type Driver, type End, featuresOf } from './case.ts';
import { cases } from './cases.ts';
import { cluster, useStore } from './drivers/cluster.ts';
import { embed } from './drivers/embed.ts';
import { hook } from './drivers/hook.ts';
import { prd } from './drivers/prd.ts';
import { run } from './drivers/run.ts';
import { swarmRun } from './drivers/swarm-run.ts';
import { tmux } from './drivers/tmux.ts';
import { expectedEnd } from './expected.ts';

const drivers: Readonly<Record<string, Driver>> = {
  run,
  hook,
  embed,
  prd,
  swarmRun,
  tmux,
  ...(missing.redis === null ? { cluster } : {}),
};

/** Codes whose text holds a measured time, or is the driver's own. */
const ownWords = ['budget-time', 'usage-limit', 'interrupted'];

describe('the same end everywhere', { timeout: 180_000 }, () => {
  useStore();

  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_, played) => {
    const ends: Record<string, object> = {};
    const expected: Record<string, object> = {};
    await Promise.all(
      Object.entries(drivers).map(async ([name, driver]) => {
        if (!isPlayed(played, driver)) return;
        const end = await driver.play(played);
        ends[name] = comparable(end, end);
        expected[name] = comparable(expectedEnd(played, driver.differences), end);
      }),
    );
    expect(ends).toEqual(expected);
  });
});

describe('the table', () => {
  it.each(cases.map((one) => [one.name, one] as const))('says how ralph run ends: %s', (_, one) => {
    const { outcome, iterations, code } = expectedEnd(one, run.differences);
    expect([outcome, iterations, ...(one.ends[2] ? [code] : [])]).toEqual(one.ends);
  });

  it('leaves out a case of a driver only for a reason, and has no reason without such a case', () => {
    const asked = new Set<string>(cases.flatMap(featuresOf));
    for (const { lacks } of Object.values(drivers)) {
      expect([...asked]).toEqual(expect.arrayContaining(Object.keys(lacks)));
      for (const reason of Object.values(lacks)) expect(reason).toMatch(/\w+ \w+/);
    }
  });

  it('has no difference that changes nothing', () => {
    for (const [name, driver] of Object.entries(drivers)) {
      const played = cases.filter((one) => isPlayed(one, driver));
      for (const difference of driver.differences) {
        const others = driver.differences.filter((other) => other !== difference);
        const differs = (one: Case) =>
          JSON.stringify(expectedEnd(one, others)) !== JSON.stringify(expectedEnd(one, driver.differences));
        expect(played.some(differs), `${name}: ${difference.what}`).toBe(true);
      }
    }
  });
});

function isPlayed(one: Case, { lacks }: Driver): boolean {
  return featuresOf(one).every((feature) => lacks[feature] === undefined);
}

/** What the driver can tell of an end, without words that are its own. */
function comparable(end: End, told: End): object {
  const { text: _text, ...wordless } = end;
  const shown = ownWords.includes(end.code ?? '') ? wordless : end;
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key in told));
}
