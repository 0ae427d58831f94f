import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alive, waitUntil } from '../support/processes.ts';
import { missing, startRedis, type TestStore } from '../support/stores.ts';
import { firstTakes, makeWorld, patience, signal, type World, worker } from './machines.ts';

describe.skipIf(missing.redis !== null)('machines that fail', { timeout: 180_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store.stop());

  it('takes over from a worker that was killed, whose agent ends with it', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker(firstTakes(60))), { max_iterations: 2 });
    const one = world.machine('one');
    await started(world, 'a', 1);
    const left = one.processes();
    expect(left.length).toBeGreaterThan(1);
    one.child.kill('SIGKILL');
    await waitUntil(() => left.every((pid) => !alive(pid)), {
      ...patience,
      what: 'the end of its processes',
    });
    world.machine('two');
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 2)).toEqual([]);
    // The first try of the first iteration came to no end, and its work is on no branch.
    expect(world.log('ran.txt').slice(0, 2)).toEqual(['start a 1', 'start a 1']);
  });

  it('goes on by itself when only the process that runs the loop is killed', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker(firstTakes(60))), { max_iterations: 2 });
    const one = world.machine('one');
    await started(world, 'a', 1);
    signal(one.processes(), 'SIGKILL');
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 2)).toEqual([]);
    expect(one.text()).toContain('the process that ran it has died');
  });

  it('refuses and records the push of a machine that was frozen and comes back', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker('0.1')), { max_iterations: 2 });
    const frozen = world.machine('one', { env: { PATH: slowPush(world) } });
    await waitUntil(() => existsSync(join(world.home, 'pushing')), patience);
    const all = [frozen.pid, ...frozen.processes()];
    signal(all, 'SIGSTOP');
    world.machine('two');
    await waitUntil(() => world.iterationsNow('a').length > 0, { ...patience, what: 'another machine' });
    writeFileSync(join(world.home, 'go'), '');
    signal(all, 'SIGCONT');
    expect(await world.over('a')).toBe('stopped');
    const events = await waitUntil(async () => {
      const { events: found } = await world.cluster.timeline('a');
      return found.some(({ type }) => type === 'kept') ? found : null;
    }, patience);
    expect(events?.map(({ type }) => type)).toContain('fenced');
    expect(world.problems('a', 2)).toEqual([]);
    expect(world.keptBy(frozen)).toHaveLength(1);
  });

  it('ends the agent of a frozen worker before another machine can begin', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker('30')), { max_iterations: 1 });
    const one = world.machine('one');
    await started(world, 'a', 1);
    const left = one.processes();
    one.child.kill('SIGSTOP');
    // Only the worker itself is frozen; the process that runs the loop hears of no renewal any more.
    await waitUntil(() => left.filter(alive).length <= 1, { ...patience, what: 'the end of the agent' });
    expect((await world.cluster.status('a'))?.host).toBe('one');
    one.child.kill('SIGCONT');
    await waitUntil(() => /the lease could not be renewed/.test(one.text()), patience);
    one.child.kill('SIGTERM');
    one.child.kill('SIGTERM');
    await one.done;
  });

  it('survives a store that goes away and comes back', async () => {
    const own = await startRedis();
    try {
      const world = await makeWorld(own);
      const agent = world.agent('agent', worker('0.3'));
      for (const name of ['a', 'b']) await world.submit(name, agent, { max_iterations: 4 });
      const machines = [world.machine('one'), world.machine('two')];
      // One that starts while the store is away ends at once.
      await waitUntil(() => machines.every((one) => /takes loops/.test(one.text())), patience);
      await started(world, 'a', 1);
      await own.restart();
      await started(world, 'b', 2);
      await own.restart();
      for (const name of ['a', 'b']) {
        expect(await world.over(name)).toBe('stopped');
        expect(world.problems(name, 4)).toEqual([]);
      }
      for (const { child } of machines) expect(child.exitCode).toBeNull();
    } finally {
      await own.stop();
    }
  });

  it('lets an iteration come to its end at the first SIGTERM, and gives the loop back', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker(firstTakes(0.7))), { max_iterations: 3 });
    const one = world.machine('one');
    await started(world, 'a', 1);
    one.child.kill('SIGTERM');
    expect((await one.done).code).toBe(0);
    expect(await world.cluster.status('a')).toMatchObject({ status: 'running', host: null });
    expect(world.problems('a', 1)).toEqual([]);
    world.machine('two');
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 3)).toEqual([]);
    expect(world.log('ran.txt').filter((line) => line === 'start a 1')).toHaveLength(1);
  });

  it('ends the agent at the second SIGTERM, keeps its work and gives the loop back', async () => {
    const world = await makeWorld(store);
    const script = `${worker('0')}; echo half >half.txt; sleep 60`;
    await world.submit('a', world.agent('agent', script), { max_iterations: 3 });
    const one = world.machine('one');
    await waitUntil(() => world.log('ran.txt').includes('end a 1'), patience);
    one.child.kill('SIGTERM');
    one.child.kill('SIGINT');
    expect((await one.done).code).toBe(130);
    expect(await world.cluster.status('a')).toMatchObject({ status: 'running', host: null });
    expect(world.keptBy(one)).toHaveLength(1);
    expect(one.processes()).toEqual([]);
  });
});

async function started(world: World, name: string, iteration: number): Promise<void> {
  const line = `start ${name} ${iteration}`;
  await waitUntil(() => world.log('ran.txt').includes(line), { ...patience, what: line });
}

/** A PATH whose git waits before it pushes, as a slow network does. */
function slowPush(world: World): string {
  const bin = join(world.home, 'slow');
  mkdirSync(bin);
  const wait = `touch '${join(world.home, 'pushing')}'; while [ ! -e '${join(world.home, 'go')}' ]; do sleep 0.05; done`;
  const real = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'git'))) ?? '';
  const script = `#!/bin/sh\ncase " $* " in *" push "*) ${wait} ;; esac\nexec '${real}/git' "$@"\n`;
  writeFileSync(join(bin, 'git'), script);
  chmodSync(join(bin, 'git'), 0o755);
  return `${bin}:${world.bin}:${process.env.PATH ?? ''}`;
}
