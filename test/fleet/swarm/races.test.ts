import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processesWithEnvironment, waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** Two commands at once on one worker, so many times; FLEET_RACES=200 for a long look. */
const races = Number(process.env.FLEET_RACES ?? 40);

const commands: readonly (readonly string[])[] = [
  ['ralph', 'pause', 'w'],
  ['ralph', 'resume', 'w'],
  ['ralph', 'stop', 'w'],
  ['kill', 'w'],
  ['respawn', 'w'],
  ['clean', 'w'],
  ['spawn'],
  ['ls'],
];

const spawn = (fleet: TestFleet) => fleet.loop('w', 'exec sleep 600', '--max-iterations', '1000');

describe('two commands at once on one worker', { timeout: 600_000 }, () => {
  it(`leave it whole, ${races} times`, async () => {
    const fleet = makeFleet();
    await spawn(fleet);
    const run = (words: readonly string[]) => (words[0] === 'spawn' ? spawn(fleet) : fleet.swarm(...words));
    for (let race = 0; race < races; race++) {
      const pair = [pick(), pick()];
      const results = await Promise.all(pair.map(run));
      for (const [index, { code, stderr }] of results.entries()) {
        expect(code, `${pair[index]?.join(' ')}: ${stderr}`).toBeOneOf([0, 1]);
      }
      const found = fleet.workers().filter(({ name }) => name === 'w');
      expect(found.length, `after ${JSON.stringify(pair)}`).toBeLessThanOrEqual(1);
      expect(windows(fleet).length, `after ${JSON.stringify(pair)}`).toBeLessThanOrEqual(1);
      // One agent at most, and none where nothing is on the list.
      await waitUntil(() => agents(fleet).length <= found.length, {
        ...patience,
        what: `one agent at most after ${JSON.stringify(pair)}`,
      });
      if (found.length === 0) await spawn(fleet);
    }
    await fleet.swarm('kill', '--all');
    await fleet.swarm('clean', '--all');
    await waitUntil(() => fleet.supervisor() === null, patience);
    expect(agents(fleet)).toEqual([]);
    expect(windows(fleet)).toEqual([]);
    expect(fleet.workers()).toEqual([]);
    // What people read of a loop afterwards.
    const kept = readdirSync(join(fleet.home, '.swarm/ralph/w'));
    expect(kept.sort()).toEqual(['iterations.log', 'state.json']);
    expect(readdirSync(join(fleet.home, '.swarm/marks'))).toEqual([]);
  });

  it('of one name, only one spawn wins', async () => {
    const fleet = makeFleet();
    const results = await Promise.all([spawn(fleet), spawn(fleet), spawn(fleet), spawn(fleet)]);
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    expect(windows(fleet)).toEqual(['w']);
    expect(fleet.workers()).toHaveLength(1);
  });

  it('many spawns lose no worker', async () => {
    const fleet = makeFleet();
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    await Promise.all(names.map((name) => fleet.swarm('spawn', '--name', name, '--', 'sleep', '600')));
    const listed = await fleet.swarm('ls', '--format', 'names');
    expect(listed.stdout.trimEnd().split('\n').sort()).toEqual([...names].sort());
  });
});

function pick(): readonly string[] {
  return commands[Math.floor(Math.random() * commands.length)] ?? [];
}

/** The agent itself, not the shell around it. */
function agents(fleet: TestFleet): number[] {
  return processesWithEnvironment('HOME', fleet.home).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === 'sleep\x300\0';
    } catch {
      return false;
    }
  });
}

function windows(fleet: TestFleet): string[] {
  return fleet.tmux('list-windows', '-a', '-F', '#{window_name}').split('\n').filter(Boolean);
}
