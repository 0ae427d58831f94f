import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';

describe('ralph stats', () => {
  it('has the figures of one run, and with --all of all runs together', async () => {
    const turns = [{ steps: [{ text: tag }] }, { steps: [work, { text: tag }] }];
    const repo = await repoWith(turns, { guardrails: [{ command: 'true' }] });
    expect((await runRalph(runArgs(1), repo)).code).toBe(1);
    expect((await runRalph(runArgs(3), repo)).code).toBe(0);
    const one = JSON.parse((await runRalph(['stats', '--json'], repo)).stdout);
    const all = JSON.parse((await runRalph(['stats', '--all', '--json'], repo)).stdout);
    expect(one).toMatchObject({ v: 1, runs: 1, acceptedTasks: 1, claims: { accepted: 1, rejected: 0 } });
    expect(all).toMatchObject({
      runs: 2,
      acceptedTasks: 1,
      claims: { accepted: 1, rejected: 1 },
      rejectedBy: { 'tool-calls': 1 },
      guardrails: [{ command: 'true', passed: 2, failed: 0 }],
    });
    expect(all.costPerAcceptedTask).toBeCloseTo(2 * one.costPerAcceptedTask);
    expect((await runRalph(['stats'], repo)).stdout).toContain('Accepted    1 task\n');
  });
});
