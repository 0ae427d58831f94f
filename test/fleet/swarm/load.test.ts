import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { processesWithEnvironment, waitUntil } from '../../support/processes.ts';
import { makeFleet, patience } from './fleet.ts';

describe('a fleet on a busy machine', { timeout: 180_000 }, () => {
  it('has one supervisor, however many spawns start at once', async () => {
    const fleet = makeFleet();
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
    const pids = new Set<number>();
    let most = 0;
    const look = setInterval(() => {
      const supervisors = processesWithEnvironment('HOME', fleet.home).filter(isSupervisor);
      for (const pid of supervisors) pids.add(pid);
      most = Math.max(most, supervisors.length);
    }, 20);
    await Promise.all(names.map((name) => fleet.loop(name, 'sleep 600', '--inactivity-timeout', '600')));
    clearInterval(look);
    expect([most, [...pids]]).toEqual([1, [fleet.supervisor()]]);
  });

  it('restarts no worker because its supervisor came late to look', async () => {
    const fleet = makeFleet();
    const script = 'until [ -e go ]; do sleep 0.05; done';
    await fleet.loop('a', script, '--max-iterations', '1', '--inactivity-timeout', '20');
    const moves = 'until [ -e move ]; do sleep 0.05; done; while :; do date +%N; sleep 0.1; done';
    await fleet.loop('b', moves, '--inactivity-timeout', '600');
    const lastSeen = (name: string) => fleet.events(name).findLast(({ type }) => type === 'screen')?.text;
    const isIdle = () => ['a', 'b'].every((name) => lastSeen(name) === 'idle');
    await waitUntil(isIdle, { ...patience, what: 'the look at a still screen' });
    const pid = fleet.supervisor() ?? 0;
    process.kill(pid, 'SIGSTOP');
    // The time itself is what this is about: longer than the worker may be silent.
    await sleep(21_000);
    process.kill(pid, 'SIGCONT');
    fleet.write('move', '');
    await waitUntil(() => lastSeen('b') === 'working', { ...patience, what: 'a look after the break' });
    fleet.write('go', '');
    await fleet.until('a', 'stopped');
    expect(fleet.log('a').filter((line) => line.startsWith('[TIMEOUT]'))).toEqual([]);
  });
});

function isSupervisor(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes('supervise');
  } catch {
    return false;
  }
}
