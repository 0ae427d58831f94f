import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { defaultLeaseMs } from '../../src/cluster/open.ts';
import { openLink } from '../support/link.ts';
import { waitUntil } from '../support/processes.ts';
import { missing, startRedis, type TestStore } from '../support/stores.ts';
import { firstTakes, makeWorld, patience, type World, worker } from './machines.ts';

const isWhole = process.env.CLUSTER_MATRIX === 'all';
const loops = isWhole ? 12 : 3;
const stalls = isWhole ? 8 : 1;
const stallMs = 5000;

describe.skipIf(missing.redis !== null)('machines far from their store', { timeout: 600_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.stop());

  /** A machine whose way to the store is long; `world` itself is near. */
  const farMachine = async (roundTripMs: number, loss: number, slots: number, leaseMs = defaultLeaseMs) => {
    const world = await makeWorld(store, leaseMs);
    const link = await openLink(store.port, { roundTripMs, loss });
    onTestFinished(() => link.close());
    const url = world.url.replace(`:${store.port}/`, `:${link.port}/`);
    const machine = world.machine('far', { url, words: ['--no-sandbox', '--slots', String(slots)] });
    await waitUntil(() => /takes loops/.test(machine.text()), patience);
    return { world, link, machine: { ...machine, url } };
  };

  it('lose no lease at 300 ms round trip, 2 % loss and stalls of 5 s', async () => {
    const { world, link, machine } = await farMachine(300, 0.02, loops);
    const agent = world.agent('agent', worker('4'));
    const names = Array.from({ length: loops }, (_, index) => `loop${index}`);
    for (const loop of names) await world.submit(loop, agent, { max_iterations: stalls + 1 });
    for (let stall = 1; stall <= stalls; stall++) {
      // A start needs answers of the store: the stall before is over.
      await waitUntil(() => starts(world).length >= stall * loops, patience);
      link.stall(stallMs);
    }
    for (const loop of names) {
      expect(await world.over(loop, 300_000)).toBe('stopped');
      expect(world.problems(loop, stalls + 1)).toEqual([]);
    }
    expect(starts(world)).toHaveLength((stalls + 1) * loops);
    expect(machine.text()).not.toMatch(/lease|another machine/);
  });

  it.runIf(isWhole)('take over from one that was killed', async () => {
    const { world, machine } = await farMachine(300, 0.02, 1);
    await world.submit('a', world.agent('agent', worker(firstTakes(120))), { max_iterations: 1 });
    await waitUntil(() => starts(world).length === 1, patience);
    const url = machine.url;
    const other = world.machine('other', { url });
    await waitUntil(() => /takes loops/.test(other.text()), patience);
    const began = performance.now();
    machine.child.kill('SIGKILL');
    await waitUntil(() => starts(world).length === 2, patience);
    if (isWhole) process.stdout.write(`crash to pick-up: ${Math.round(performance.now() - began)} ms\n`);
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 1)).toEqual([]);
  });

  it('replace a connection that died without a word, and keep the loop', async () => {
    // A longer lease leaves more time between the new connection and its end, on a busy machine.
    const { world, link, machine } = await farMachine(2, 0, 1, 12_000);
    await world.submit('a', world.agent('agent', worker('14')), { max_iterations: 1 });
    await waitUntil(() => starts(world).length === 1, patience);
    link.silence();
    expect(await world.over('a')).toBe('stopped');
    expect(starts(world)).toHaveLength(1);
    expect(machine.text()).not.toMatch(/lease|another machine/);
  });
});

function starts(world: World): string[] {
  return world.log('ran.txt').filter((line) => line.startsWith('start'));
}
