import { describe, expect, it } from 'vitest';
import { type Case, featuresOf } from './case.ts';
import { cases, waitingCases } from './cases.ts';
import { run } from './drivers/run.ts';
import { expectedEnd } from './expected.ts';
import { describeEnds, drivers, isPlayed } from './play.ts';

describeEnds(cases.filter((one) => !waitingCases.includes(one)));

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
