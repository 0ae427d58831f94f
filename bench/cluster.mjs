// What a cluster costs: an empty iteration and a renewed lease against one durable write of a file, the time from a crash to
// the pick-up with the usual settings, and the memory that the store needs for a loop.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSource, redisInfo, withRedis } from './support/cluster-source.mjs';
import { compare, interleave } from './support/measure.mjs';

const iterations = 50;
const manyLoops = 1000;
const costCalls = 1000;
const [one, two] = ['one', 'two'].map((host) => ({ host, labels: [] }));

export async function run(room, { rounds = 7 }) {
  const source = await loadSource(room.folder);
  return withRedis(source, (store) => measure(room, source, store, rounds));
}

async function measure(room, source, store, rounds) {
  const { clusterAddress, openCluster, order, writeAtomic } = source;
  const open = async (options) => openCluster(clusterAddress(await store.fresh(), {}), options);
  const cluster = await open({ leaseMs: 600_000 });
  const floor = join(room.folder, 'floor.json');
  const samples = await interleave(
    {
      cluster: () => emptyIterations(source, cluster),
      write: () => durableWrites(writeAtomic, floor),
      beat: () => beats(source, cluster),
    },
    { rounds },
  );
  await cluster.close();
  const shared = { unit: 'ms', against: 'a durable write' };
  const rows = [
    compare('an empty iteration', { ...shared, ours: samples.cluster, floor: samples.write }),
    compare('a lease renewed', { ...shared, ours: samples.beat, floor: samples.write }),
    ...(await costs(source, store, await open({ leaseMs: 600_000 }))),
  ];

  const pickUps = [];
  for (let round = 0; round < Math.min(3, rounds); round++) pickUps.push(await pickUp(source, await open()));
  rows.push(
    compare('crash to pick-up', {
      unit: 'ms',
      ours: pickUps,
      floor: [source.defaultLeaseMs],
      against: 'the lease',
      budget: { of: 'ours', atMost: 10_000 },
    }),
  );

  const big = await open();
  const before = memoryOf(store);
  for (let at = 0; at < manyLoops; at += 50) {
    const names = Array.from({ length: 50 }, (_, index) => `loop${at + index}`);
    await Promise.all(names.map((name) => big.submit(order(name, { source: sourceOf(name) }))));
  }
  const ours = [(memoryOf(store) - before) / manyLoops];
  await big.close();
  const empty = { unit: 'KB', floor: [before], against: 'the empty store' };
  rows.push(compare('memory for a loop that waits', { ...empty, ours }));
  return rows;
}

/** What one call costs the server, by the CPU that Redis says it used. */
async function costs({ order, ended }, store, cluster) {
  const settings = { ...order('').settings, max_iterations: 1_000_000 };
  await cluster.submit(order('a', { settings, source: sourceOf('a') }));
  let claim = await cluster.claim(one);
  const calls = {
    'a lease renewed': () => cluster.heartbeat(claim),
    'an empty iteration': async () => {
      claim = (await cluster.finishIteration(claim, ended())).claim;
    },
    'a poll without work': () => cluster.claim(two),
    'a screen told': () => cluster.report(claim, { tail: 'x'.repeat(4096) }),
  };
  const rows = [];
  for (const [name, call] of Object.entries(calls)) {
    const [cpu, began] = [cpuOf(store), performance.now()];
    for (let count = 0; count < costCalls; count++) await call();
    const ours = [(cpuOf(store) - cpu) / costCalls];
    const floor = [((performance.now() - began) * 1000) / costCalls];
    rows.push(compare(`CPU of the store for ${name}`, { unit: 'µs', ours, floor, against: 'its time' }));
  }
  await cluster.close();
  return rows;
}

/** Microseconds. */
function cpuOf(store) {
  return 1e6 * (redisInfo(store, 'cpu', 'used_cpu_sys') + redisInfo(store, 'cpu', 'used_cpu_user'));
}

/** In KB. */
function memoryOf(store) {
  return redisInfo(store, 'memory', 'used_memory') / 1024;
}

/** Milliseconds for one of many iterations that do nothing, from claim to claim. */
async function emptyIterations({ order, ended }, fleet) {
  const settings = { ...order('').settings, max_iterations: iterations };
  await fleet.submit(order('empty', { settings }));
  let claim = await fleet.claim(one);
  const began = performance.now();
  for (let count = 0; count < iterations; count++) {
    const next = await fleet.finishIteration(claim, ended());
    claim = next.kind === 'continue' ? (next.claim ?? (await fleet.claim(one))) : null;
  }
  return (performance.now() - began) / iterations;
}

function durableWrites(writeAtomic, path) {
  const began = performance.now();
  for (let count = 0; count < iterations; count++) writeAtomic(path, `${'{}'.padEnd(2000)}\n`);
  return (performance.now() - began) / iterations;
}

async function beats({ order }, fleet) {
  await fleet.submit(order('beats'));
  const claim = await fleet.claim(one);
  const began = performance.now();
  for (let count = 0; count < iterations; count++) await fleet.heartbeat(claim);
  const ms = (performance.now() - began) / iterations;
  await fleet.cancel('beats');
  await fleet.giveBack(claim);
  return ms;
}

/** A machine that has a loop falls silent; another asks for work all the time. */
async function pickUp({ order }, cluster) {
  await cluster.submit(order('a'));
  let claim = null;
  while (claim === null) claim = await cluster.claim(one);
  await cluster.heartbeat(claim);
  const began = performance.now();
  for (;;) {
    if ((await cluster.claim(two)) !== null) break;
    await sleep(250);
  }
  await cluster.close();
  return performance.now() - began;
}

function sourceOf(name) {
  return {
    repo: 'ssh://git@host/app.git',
    branch: `ralph/${name}`,
    base: null,
    prompt: 'x'.repeat(2000),
    pass: [],
  };
}
