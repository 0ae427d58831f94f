import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { isAlive, processIdentity, startFromPs } from './process-identity.ts';

describe('processIdentity', () => {
  it('is the same each time and that of a living process', () => {
    const identity = processIdentity(process.pid);
    expect(identity).toEqual(processIdentity(process.pid));
    expect(identity !== null && isAlive(identity)).toBe(true);
  });

  it('does not take a later process with the same pid for the first', () => {
    expect(isAlive({ pid: process.pid, startedAt: 'earlier' })).toBe(false);
  });

  it('is null for a process that is gone, and for numbers that are no pid', () => {
    expect([2 ** 30, 0, -1, 1.5, Number.NaN].map(processIdentity)).toEqual([null, null, null, null, null]);
  });

  it.skipIf(process.platform === 'win32')('takes a zombie for dead', async () => {
    // The shell starts a child and becomes a program that never asks for its end.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
    const child = processIdentity(pid);
    if (child === null) throw new Error('the child was not seen alive');
    await waitUntil(() => !isAlive(child));
    expect(process.kill(pid, 0)).toBe(true);
    expect(processIdentity(pid)).toBeNull();
  });
});

describe('startFromPs', () => {
  it('reads the start, but not that of a zombie', () => {
    expect(startFromPs('Ss   Sun Nov 15 21:19:00 2026\n')).toBe('Sun Nov 15 21:19:00 2026');
    expect(startFromPs('Z    Sun Nov 15 21:19:00 2026\n')).toBeNull();
    expect(startFromPs('')).toBeNull();
  });
});
