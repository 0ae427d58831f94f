import { expect, it } from 'vitest';
import { buildFaults, describeFault, faultsOf, type Operation, runWithFault } from './fault.ts';
import type { Case } from './place.ts';

type Opener = () => Case | Promise<Case>;

export const missing = buildFaults();

/**
 * Tests what must hold when any single file operation of a scenario fails. `npm test` tries a sample of so many faults,
 * evenly spread; `npm run test:faults` tries all of them.
 */
export function testFaults(what: string, open: Opener, sample: number): void {
  it.skipIf(missing !== null)(
    missing ?? `${what}: a file operation that fails costs nothing but time`,
    async () => {
      const faults = (await operationsOf(open)).flatMap(faultsOf);
      const step = process.env.FAULTS === 'all' ? 1 : Math.max(1, faults.length / sample);
      const chosen = faults.filter((_, index) => Math.floor(index % step) === 0);
      const wrong: string[] = [];
      for (const fault of chosen) {
        const one = await open();
        const { end } = await runWithFault(one.command, one.root, fault);
        const problems = await one.problems(end, fault);
        one.close();
        if (problems.length > 0) wrong.push([describeFault(fault), ...problems].join('\n  '));
      }
      expect(wrong.join('\n')).toBe('');
      expect(chosen.length).toBeGreaterThanOrEqual(sample / 2);
    },
    3_600_000,
  );
}

/** The file operations of a scenario when nothing fails. */
export async function operationsOf(open: Opener): Promise<readonly Operation[]> {
  const one = await open();
  const { end, operations } = await runWithFault(one.command, one.root, null);
  expect(await one.problems(end, null)).toEqual([]);
  one.close();
  return operations;
}
