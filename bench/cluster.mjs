// What a cluster costs: an empty iteration and a renewed lease against one durable write of a file, the time from a crash to
// the pick-up with the usual settings, and the memory that the store needs for a loop.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compare, interleave } from './support/measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const iterations = 50;
const manyLoops = 1000;
const costCalls = 1000;
const [one, two] = ['one', 'two'].map((host) => ({ host, labels: [] }));

export function problem() {
  if (process.platform !== 'linux') return 'reads /proc';
  return null;
}

export async function run(room, { rounds = 7 }) {
  const source = await loadSource(room);
  const rows = [];
  for (const [kind, start] of [
    ['redis', source.startRedis],
    ['postgres', source.startPostgres],
  ]) {
    if (source.missing[kind] !== null) {
      process.stderr.write(`${source.missing[kind]}\n`);
      continue;
    }
    const store = await start();
    const stop = () => process.kill(store.pid, 'SIGKILL');
    process.prependOnceListener('exit', stop);
    try {
      rows.push(...(await measure(room, source, kind, store, rounds)));
    } finally {
      process.removeListener('exit', stop);
      await store.stop();
    }
  }
  return rows;
}

async function measure(room, source, kind, store, rounds) {
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
    compare(`${kind}: an empty iteration`, { ...shared, ours: samples.cluster, floor: samples.write }),
    compare(`${kind}: a lease renewed`, { ...shared, ours: samples.beat, floor: samples.write }),
  ];

  if (kind === 'redis') rows.push(...(await costs(source, store, await open({ leaseMs: 600_000 }))));

  const pickUps = [];
  for (let round = 0; round < Math.min(3, rounds); round++) pickUps.push(await pickUp(source, await open()));
  const lease = [source.defaultLeaseMs];
  rows.push(
    compare(`${kind}: crash to pick-up`, {
      unit: 'ms',
      ours: pickUps,
      floor: lease,
      against: 'the lease',
      budget: { of: 'ours', atMost: 15_000 },
    }),
  );

  const big = await open();
  const before = memoryOf(kind, store);
  for (let at = 0; at < manyLoops; at += 50) {
    const names = Array.from({ length: 50 }, (_, index) => `loop${at + index}`);
    await Promise.all(names.map((name) => big.submit(order(name, { source: sourceOf(name) }))));
  }
  const after = memoryOf(kind, store);
  await big.close();
  const ours = [(after - before) / manyLoops];
  rows.push(
    compare(`${kind}: memory for a loop that waits`, {
      unit: 'KB',
      ours,
      floor: [before],
      against: 'the empty store',
    }),
  );
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
    rows.push(
      compare(`redis: CPU of the store for ${name}`, { unit: 'µs', ours, floor, against: 'its time' }),
    );
  }
  await cluster.close();
  return rows;
}

/** Microseconds. */
function cpuOf({ port }) {
  const info = execFileSync('redis-cli', ['-p', String(port), 'info', 'cpu'], { encoding: 'utf8' });
  const used = ['sys', 'user'].map((part) =>
    Number(new RegExp(`^used_cpu_${part}:([\\d.]+)`, 'm').exec(info)?.[1]),
  );
  return (used[0] + used[1]) * 1e6;
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

/** In KB: what Redis says it uses, or the share of memory of all processes of PostgreSQL. */
function memoryOf(kind, { port, pid }) {
  if (kind === 'redis') {
    const info = execFileSync('redis-cli', ['-p', String(port), 'info', 'memory'], { encoding: 'utf8' });
    return Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / 1024;
  }
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return [pid, ...children].reduce((sum, one) => sum + pssOf(one), 0);
}

function pssOf(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

/** From the source: none of this is exported by the package. */
async function loadSource(room) {
  const esbuild = await import('esbuild');
  const outfile = join(room.folder, 'cluster.cjs');
  const paths = [
    'src/cluster/address.ts',
    'src/cluster/open.ts',
    'src/os/files/files.ts',
    'bench/support/cluster-orders.mjs',
    'test/support/stores.ts',
  ];
  await esbuild.build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    external: ['pg-native', '@valkey/valkey-glide', 'redis', 'bullmq-otel'],
    logLevel: 'error',
    outfile,
  });
  return require(outfile);
}
