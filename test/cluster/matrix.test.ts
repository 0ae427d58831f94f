import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { missing, startRedis } from '../support/stores.ts';
import { type Machine, makeWorld, signal, type World, worker } from './machines.ts';

/** CLUSTER_MATRIX=all runs all of it: some minutes. Without it, a taste. */
const isWhole = process.env.CLUSTER_MATRIX === 'all';
const kills = isWhole ? 50 : 3;
const loops = isWhole ? 9 : 2;
const many = isWhole ? { loops: 200, limit: 8, slots: '6' } : { loops: 6, limit: 2, slots: '2' };

describe.skipIf(missing.redis !== null)('machines that die again and again', { timeout: 1_200_000 }, () => {
  it(`lose no iteration and commit none twice, at ${kills} random points`, async () => {
    const store = await startRedis();
    try {
      const world = await makeWorld(store);
      const agent = world.agent('agent', worker('0.$(($(od -An -N1 -tu1 /dev/urandom) % 9))'));
      const names = Array.from({ length: loops }, (_, index) => `loop${index}`);
      const iterations = isWhole ? 40 : 4;
      for (const loop of names) await world.submit(loop, agent, { max_iterations: iterations });
      const places = ['one', 'two', 'three'];
      const machines = places.map((place) =>
        world.machine(place, { words: ['--no-sandbox', '--slots', '3'] }),
      );
      for (let killed = 0; killed < kills; killed++) {
        // Long enough for the loops of the last one to run again somewhere.
        await sleep(isWhole ? 1000 + Math.random() * 4000 : Math.random() * 1500);
        const at = Math.floor(Math.random() * places.length);
        const machine = machines[at];
        if (machine === undefined) continue;
        await harm(machine);
        if (machine.child.exitCode === null && machine.child.signalCode === null) continue;
        machines[at] = world.machine(places[at] ?? '', { words: ['--no-sandbox', '--slots', '3'] });
      }
      // By chance one iteration may have met three harms in a row: then a person decides to go on.
      for (const loop of names) {
        const resume = async () => {
          const view = await world.cluster.status(loop);
          if (view?.end?.outcome === 'NEEDS_DECISION') await world.cluster.resume(loop);
          return view?.status === 'stopped';
        };
        await waitUntil(resume, { timeoutMs: 600_000, what: `the end of ${loop}` });
        expect(world.problems(loop, iterations)).toEqual([]);
      }
      if (isWhole) report(world, names, iterations);
    } finally {
      await store.stop();
    }
  });
});

describe.skipIf(missing.redis !== null)('many loops on two machines', { timeout: 1_200_000 }, () => {
  it('never run more at once than the limit says', async () => {
    const store = await startRedis();
    try {
      const world = await makeWorld(store, 6000);
      const running = join(world.home, 'running');
      mkdirSync(running);
      const script = [
        'cat >/dev/null',
        `touch '${running}'/$$`,
        `ls '${running}' | wc -l >>"$LOG"`,
        'sleep 0.3',
        'echo "$RALPH_ITERATION" >>work.txt',
        `rm '${running}'/$$`,
      ].join('; ');
      const agent = world.agent('agent', script);
      await world.cluster.setLimits({ maxParallel: many.limit });
      const names = Array.from({ length: many.loops }, (_, index) => `many${index}`);
      for (const loop of names) await world.submit(loop, agent, { max_iterations: 2 });
      const started = performance.now();
      for (const place of ['one', 'two'])
        world.machine(place, { words: ['--no-sandbox', '--slots', many.slots] });
      for (const loop of names) expect(await world.over(loop, 900_000)).toBe('stopped');
      const seconds = Math.round((performance.now() - started) / 1000);
      const counts = world.log('ran.txt').map(Number);
      expect(counts).toHaveLength(many.loops * 2);
      if (isWhole) say(`${many.loops} loops: ${seconds} s, at most ${Math.max(...counts)} at once`);
      expect(Math.max(...counts)).toBeLessThanOrEqual(many.limit);
      for (const loop of names) expect(world.problems(loop, 2)).toEqual([]);
    } finally {
      await store.stop();
    }
  });
});

/** The worker, what runs its loops, all of it at once, or frozen for longer than its lease. */
async function harm(machine: Machine): Promise<void> {
  const parts = machine.processes();
  const kind = Math.floor(Math.random() * 4);
  if (kind === 0) signal([machine.pid], 'SIGKILL');
  if (kind === 1) signal(parts, 'SIGKILL');
  if (kind === 2) signal([machine.pid, ...parts], 'SIGKILL');
  if (kind === 3) {
    signal([machine.pid, ...parts], 'SIGSTOP');
    setTimeout(() => signal([machine.pid, ...parts], 'SIGCONT'), 2000 + Math.random() * 6000);
  }
  if (kind === 0 || kind === 2) await waitUntil(() => machine.child.signalCode !== null);
}

/** Figures for a person who asked for all of it. */
function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function report(world: World, names: readonly string[], iterations: number): void {
  const ran = world.log('ran.txt');
  const count = (start: string) => ran.filter((line) => line.startsWith(start)).length;
  const [starts, ends] = [count('start'), count('end')];
  const wanted = names.length * iterations;
  say(`${kills} harms, ${wanted} iterations on the branches, ${starts} started, ${ends} ended`);
}
