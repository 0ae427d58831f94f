import { expect, it } from 'vitest';
import { createCluster } from '../../src/cluster/cluster.ts';
import { isOpen } from '../../src/fleet/files/loops.ts';
import { order } from './contract.ts';
import { memoryStore } from './memory-store.ts';
import {
  type SimulatedGit,
  type SimulatedMachine,
  simulatedClock,
  startMachine,
} from './simulated-machines.ts';

/** CLUSTER_MATRIX=all simulates 10,000 loops on 200 machines: up to an hour. Without it, a taste. */
const isWhole = process.env.CLUSTER_MATRIX === 'all';
const size = isWhole
  ? { loops: 10_000, machines: 200, faults: 1000 }
  : { loops: 80, machines: 6, faults: 40 };
const [slots, maxIterations, leaseMs] = [4, 2, 30_000];
const maxParallel = Math.floor(0.9 * size.machines * slots);
const seconds = 1000;

it(`${size.loops} loops on ${size.machines} machines lose nothing to ${size.faults} faults, and none waits for ever`, {
  timeout: 3_600_000,
}, async () => {
  const random = createRandom(24);
  const clock = simulatedClock();
  const store = memoryStore(leaseMs, clock.now);
  const cluster = createCluster(store, leaseMs, clock.now);
  const git: SimulatedGit = new Map();
  const agents = new Map<string, Set<string>>();
  const seen = { starts: 0, running: 0, most: 0, twice: 0 };
  const world = {
    clock,
    git,
    random,
    faults: { lostCalls: 0.001 },
    iterationMs: () => 20 * seconds - 60 * seconds * Math.log(1 - random()),
    agent(change: 1 | -1, loop: string, host: string) {
      const hosts = agents.get(loop) ?? new Set();
      agents.set(loop, hosts);
      if (change === 1 && hosts.size > 0) seen.twice++;
      if (change === 1) hosts.add(host);
      else hosts.delete(host);
      seen.running += change;
      seen.starts += change === 1 ? 1 : 0;
      seen.most = Math.max(seen.most, seen.running);
    },
  };
  // Each machine has a connection of its own, and so a cluster of its own.
  const start = (host: string) =>
    startMachine({ ...world, cluster: createCluster(store, leaseMs, clock.now) }, host, slots, leaseMs);

  await cluster.setLimits({ maxParallel });
  const settings = { ...order('').settings, max_iterations: maxIterations, done_pattern: null };
  const source = { repo: 'r', branch: 'b', base: null, prompt: '', pass: [] };
  const names = Array.from({ length: size.loops }, (_, index) => `loop${index}`);
  for (const [index, name] of names.entries()) {
    const options = { account: `account${index % 5}` };
    await cluster.submit(order(name, { command: ['sh'], settings, source, options }));
  }
  const hosts = Array.from({ length: size.machines }, (_, index) => `m${index}`);
  const machines = new Map(hosts.map((host) => [host, start(host)]));
  const busyMs = ((20 + 60) * seconds * size.loops * maxIterations) / maxParallel;
  for (let fault = 0; fault < size.faults; fault++) {
    clock.timer(random() * busyMs, () => {
      const host = hosts[Math.floor(random() * hosts.length)] ?? '';
      harm(host, machines, { clock, random, start: () => start(host) });
    });
  }

  const endOf = async () => {
    for (let at = clock.monotonic() + 60 * seconds; ; at += 60 * seconds) {
      await clock.run(at);
      const open = (await cluster.list()).filter(isOpen);
      for (const { name, status } of open) if (status === 'paused') await cluster.resume(name);
      if (open.length === 0 || at > 4 * busyMs + 3600 * seconds) return open.map(({ name }) => name);
    }
  };
  expect(await endOf()).toEqual([]);
  const wanted = Array.from({ length: maxIterations }, (_, index) => index + 1);
  for (const name of names) expect([name, git.get(name)]).toEqual([name, wanted]);
  expect((await cluster.list()).filter(({ end }) => end?.exitCode !== 0)).toEqual([]);
  // An agent that is frozen keeps its place only as long as its lease.
  expect(seen.twice).toBeLessThanOrEqual(size.faults * slots);
  if (isWhole) report(clock.monotonic(), busyMs, seen);
});

type Harm = {
  readonly clock: ReturnType<typeof simulatedClock>;
  readonly random: () => number;
  readonly start: () => SimulatedMachine;
};

/** Kills, freezes or cuts off a machine for up to two minutes. */
function harm(host: string, machines: Map<string, SimulatedMachine>, { clock, random, start }: Harm): void {
  const machine = machines.get(host);
  const forMs = (5 + 115 * random()) * seconds;
  const kind = Math.floor(random() * 3);
  if (kind === 0) {
    machine?.kill();
    clock.timer(forMs, () => machines.set(host, start()));
  }
  if (kind === 1) {
    machine?.freeze();
    clock.timer(forMs, () => machine?.thaw());
  }
  if (kind === 2) {
    machine?.cut(true);
    clock.timer(forMs, () => machine?.cut(false));
  }
}

/** Figures for a person who asked for all of it. */
function report(ms: number, busyMs: number, { starts, most, twice }: Record<string, number>): void {
  const wanted = size.loops * maxIterations;
  process.stdout.write(
    `${wanted} iterations, ${starts} agents started, at most ${most} at once (limit ${maxParallel}), ` +
      `${twice} beside one that was frozen or cut off; ${Math.round(ms / 60_000)} simulated minutes, ` +
      `${Math.round(busyMs / 60_000)} without any fault\n`,
  );
}

/** Repeatable numbers below 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
