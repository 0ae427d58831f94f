import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeWorld, patience } from '../../cluster/machines.ts';
import { waitUntil } from '../../support/processes.ts';
import { missing, startRedis, type TestStore } from '../../support/stores.ts';
import { type Driver, task } from '../case.ts';
import { endOfRun } from './journal.ts';
import { settingsFile } from './settings.ts';

let store: TestStore | undefined;

/** Starts the store that all cases share. Call it in a `describe`. */
export function useStore(): void {
  beforeAll(async () => {
    if (missing.redis === null) store = await startRedis();
  });
  afterAll(() => store?.stop());
}

/** A worker of a cluster: a machine that takes loops from a store and runs them by `ralph run`. */
export const cluster: Driver = {
  differences: [],
  lacks: {
    noGoal: 'seed 001: ralph run always has a completion response',
    busy: 'a machine gives each loop a checkout of its own',
    'prompt file gone': 'the prompt is a part of the order',
    'agent gone': 'a fault of the machine: the loop waits for another one',
    'logged out': 'a fault of the machine: the loop waits for another one',
    interrupt: 'seed 003: a worker is paused or killed, and nobody interrupts its turn',
  },
  async play({ settings, turns }) {
    if (store === undefined) throw new Error('redis is not installed');
    const world = await makeWorld(store);
    const { maximumIterations, ...others } = settingsFile(settings);
    const file = join(world.home, '.config/ralph/settings.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(others));
    await installFakeAgent(world.bin, { agent: 'claude', script: { turns } });
    const { dir } = world.machine('one');
    const source = { prompt: task };
    await world.submit('loop', 'claude', {
      max_iterations: settings.maxIterations,
      options: { run: [] },
      source,
    });
    const view = await waitUntil(
      async () => {
        const status = await world.cluster.status('loop');
        return status?.end ? status : null;
      },
      { ...patience, what: 'the end of the loop' },
    );
    if (!view?.end) throw new Error('the loop has no end');
    const { outcome, because, exitCode } = view.end;
    const end = { outcome, iterations: view.iteration, ...because, exitCode };
    // A loop that waits for a human keeps its worktree; of any other the record is kept.
    const runs = view.status === 'paused' ? 'trees/loop/.ralph/runs' : `loops/loop/runs-${view.startedAt}`;
    await waitUntil(() => existsSync(join(dir, runs)), { ...patience, what: 'the record of the loop' });
    expect(endOfRun(join(dir, runs))).toEqual(end);
    return end;
  },
};
