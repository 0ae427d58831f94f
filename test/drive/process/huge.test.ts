import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../../support/agent.ts';
import { type RunningRalph, startRalph } from '../../support/ralph.ts';

const MB = 1024 * 1024;

/** The most memory that the process ever had, in MB; the last answer before it is gone. */
async function peakMemory(running: RunningRalph): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    try {
      peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))?.[1] ?? peak);
    } catch {
      clearInterval(timer);
    }
  }, 10);
  await running.done;
  clearInterval(timer);
  return peak / 1024;
}

describe.runIf(process.platform === 'linux')('an agent that prints a great deal', () => {
  it.each(['tool', 'text', 'raw'] as const)(
    '300 MB of %s leave memory flat, and the claim is found',
    async (as) => {
      const flood = { flood: { bytes: 300 * MB, lineBytes: 8000, as } };
      const repo = await repoWith([{ steps: [flood, work, { text: `All finished.\n${tag}` }] }]);
      const running = startRalph(runArgs(1, '--no-stream-agent-output'), repo);
      const peak = await peakMemory(running);
      expect((await running.done).code).toBe(0);
      expect(peak).toBeGreaterThan(30);
      expect(peak).toBeLessThan(240);
    },
    120_000,
  );

  it('a single line of 50 MB is read, and the claim after it is found', async () => {
    const flood = { flood: { bytes: 50 * MB, lineBytes: 50 * MB, as: 'tool' as const } };
    const repo = await repoWith([{ steps: [flood, work, { text: `All finished.\n${tag}` }] }]);
    const running = startRalph(runArgs(1), repo);
    const peak = await peakMemory(running);
    expect((await running.done).code).toBe(0);
    expect(peak).toBeLessThan(600);
  }, 120_000);
});
