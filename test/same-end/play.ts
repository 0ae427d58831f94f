import { describe, expect, it } from 'vitest';
import { missing } from '../support/stores.ts';
import { type Case, type Driver, type End, featuresOf } from './case.ts';
import { acp } from './drivers/acp.ts';
import { cluster, useStore } from './drivers/cluster.ts';
import { embed } from './drivers/embed.ts';
import { hook } from './drivers/hook.ts';
import { prd } from './drivers/prd.ts';
import { run } from './drivers/run.ts';
import { swarmRun } from './drivers/swarm-run.ts';
import { tmux } from './drivers/tmux.ts';
import { expectedEnd } from './expected.ts';

export const drivers: Readonly<Record<string, Driver>> = {
  run,
  acp,
  hook,
  embed,
  prd,
  swarmRun,
  tmux,
  ...(missing.redis === null ? { cluster } : {}),
};

/** Codes whose text holds a measured time, or is the driver's own. */
const ownWords = [
  'budget-time',
  'usage-limit',
  'interrupted',
  'already-running',
  'prompt-file',
  'agent-missing',
];

/** Plays the cases through all drivers, and compares the ends with each other and with `decide`. */
export function describeEnds(cases: readonly Case[]): void {
  describe('the same end everywhere', { timeout: 180_000 }, () => {
    useStore();

    it.each(cases.map((one) => [one.name, one] as const))('%s', async (_, played) => {
      const ends: Record<string, object> = {};
      const expected: Record<string, object> = {};
      await Promise.all(
        Object.entries(drivers).map(async ([name, driver]) => {
          if (!isPlayed(played, driver)) return;
          const end = await driver.play(played);
          ends[name] = comparable(played, end, end);
          expected[name] = comparable(played, expectedEnd(played, driver.differences), end);
        }),
      );
      expect(ends).toEqual(expected);
    });
  });
}

export function isPlayed(one: Case, { lacks }: Driver): boolean {
  return featuresOf(one).every((feature) => lacks[feature] === undefined);
}

/** What the driver can tell of an end, without words that are its own. */
function comparable({ isTimed }: Case, end: End, told: End): object {
  const { text: _text, ...wordless } = end;
  const { iterations: _iterations, ...uncounted } = wordless;
  const shown = isTimed ? uncounted : ownWords.includes(end.code ?? '') ? wordless : end;
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key in told));
}
