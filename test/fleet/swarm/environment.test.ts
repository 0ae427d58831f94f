import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { runRalph } from '../../support/ralph.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** Writes its environment and ends; a later look at it must not see half of it. */
const shows =
  'env >"$SWARM_WORKER-$RALPH_ITERATION.tmp"; mv "$SWARM_WORKER-$RALPH_ITERATION.tmp" "$SWARM_WORKER-$RALPH_ITERATION.env"';
const key = 'it\'s a key $(touch A) "of" mine';

/** Spawns with these variables. The tmux server and the supervisor run already, and have others. */
function spawnWith(fleet: TestFleet, variables: Record<string, string | undefined>, ...words: string[]) {
  return runRalph(['spawn', '--tmux-socket', fleet.socket, ...words], {
    ...fleet,
    env: { ...fleet.env, ...variables },
    program: 'swarm',
  });
}

function variablesIn(fleet: TestFleet, name: string): Record<string, string> {
  const lines = fleet.read(name).trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

describe('the environment of a worker', { timeout: 120_000 }, () => {
  it('is that of its spawn in every iteration, and none of the tmux server that runs already', async () => {
    const fleet = makeFleet();
    fleet.write('agent', `#!/bin/sh\n${shows}\n`);
    execFileSync('chmod', ['+x', fleet.path('agent')]);
    const server = { OLD_KEY: 'of the server', MY_KEY: 'old', RALPH_NOTIFY_SECRET: 'old' };
    execFileSync('tmux', ['-L', fleet.socket, 'new-session', '-d', '-s', 'own', 'sleep 600'], {
      env: { ...process.env, ...server },
    });
    await fleet.loop('first', 'sleep 600', '--inactivity-timeout', '600');
    const loop = ['--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '2', '--env', 'MINE=1'];
    const variables = {
      MY_KEY: key,
      HTTPS_PROXY: 'http://proxy:8080',
      CLAUDE_CONFIG_DIR: '/claude',
      prompt: 'x',
      TERM_PROGRAM: 'other',
      CLAUDECODE: '1',
      TWO_LINES: 'HOME=/no\nMY_KEY=no',
    };
    await spawnWith(fleet, variables, '--name', 'a', ...loop, '--', fleet.path('agent'));
    await fleet.until('a', 'stopped');
    for (const iteration of [1, 2]) {
      const seen = variablesIn(fleet, `a-${iteration}.env`);
      expect(seen).toMatchObject({
        HTTPS_PROXY: 'http://proxy:8080',
        CLAUDE_CONFIG_DIR: '/claude',
        MINE: '1',
        prompt: 'x',
        SWARM_WORKER: 'a',
        HOME: expect.anything(),
      });
      expect(fleet.read(`a-${iteration}.env`)).toContain(`MY_KEY=${key}\n`);
      expect(fleet.read(`a-${iteration}.env`)).toContain(`HOME=${fleet.home}\n`);
      for (const name of ['OLD_KEY', 'RALPH_NOTIFY_SECRET', 'CLAUDECODE'])
        expect(seen).not.toHaveProperty(name);
      expect(seen.TERM_PROGRAM).not.toBe('other');
    }
    expect(fleet.exists('A')).toBe(false);

    // Started anew from another shell, it is as it was; replaced, it has what is there now.
    await fleet.swarm('respawn', 'a');
    await fleet.until('a', 'stopped');
    expect(variablesIn(fleet, 'a-1.env').HTTPS_PROXY).toBe('http://proxy:8080');
    const replace = ['--name', 'a', '--replace', ...loop, '--', fleet.path('agent')];
    await spawnWith(fleet, { HTTPS_PROXY: 'http://new' }, ...replace);
    await fleet.until('a', 'stopped');
    expect(variablesIn(fleet, 'a-2.env').HTTPS_PROXY).toBe('http://new');
  });

  it('is in no arguments of a process, and in files of its owner only, which go with the worker', async () => {
    const fleet = makeFleet();
    const words = ['--name', 'a', '--tmux', '--', 'sh', '-c', 'echo $$ >pid; exec sleep 600'];
    await spawnWith(fleet, { MY_KEY: 'secret-0123456789' }, ...words);
    await waitUntil(() => fleet.exists('pid') && fleet.read('pid') !== '', {
      ...patience,
      what: 'the worker',
    });
    const pid = fleet.read('pid').trim();
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).toContain('secret-0123456789');
    const all = execFileSync('ps', ['-eo', 'args', 'ww'], { encoding: 'utf8' });
    expect(all).not.toContain('secret-0123456789');
    expect((await fleet.swarm('ls', '--format', 'json')).stdout).not.toContain('secret-0123456789');

    const root = join(fleet.home, '.swarm');
    const holding = () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => readFileSync(path, 'utf8').includes('secret-0123456789'));
    expect(holding().length).toBeGreaterThan(0);
    for (const path of holding()) expect(statSync(path).mode & 0o077).toBe(0);
    await fleet.swarm('kill', 'a');
    await fleet.swarm('clean', 'a');
    expect(holding()).toEqual([]);
  });
});
