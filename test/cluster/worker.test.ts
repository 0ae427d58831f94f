import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing, startRedis, type TestStore } from '../support/stores.ts';
import { makeWorld, worker } from './machines.ts';

describe.skipIf(missing.redis !== null)('swarm worker', { timeout: 120_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store.stop());

  it('runs a loop to its end, with one commit for each iteration on its branch', async () => {
    const world = await makeWorld(store);
    const machine = world.machine('one');
    await world.submit('a', world.agent('agent', worker()));
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 3)).toEqual([]);
    machine.child.kill('SIGTERM');
    expect((await machine.done).code).toBe(0);
  });
});
