import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import type { Step } from '../../src/testkit/script.ts';
import { tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { freePort, missing, startRedis, type TestStore } from '../support/stores.ts';
import { makeWorld, patience, worker } from './machines.ts';

describe.skipIf(missing.redis !== null)('loops that share machines', { timeout: 180_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.stop());

  it('are not held up by one with a mistyped repository, which is paused with the sentence of git', async () => {
    const world = await makeWorld(store);
    const agent = world.agent('agent', worker('0'));
    const repo = join(world.home, 'typo.git');
    await world.submit('typo', agent, { source: { repo } });
    const away = `git://127.0.0.1:${await freePort()}/x`;
    await world.submit('away', agent, { source: { repo: away } });
    for (const name of ['b', 'c']) await world.submit(name, agent, { max_iterations: 2 });
    const one = world.machine('one');
    for (const name of ['b', 'c']) {
      expect(await world.over(name)).toBe('stopped');
      expect(world.problems(name, 2)).toEqual([]);
    }
    const isPaused = async () => (await world.cluster.status('typo'))?.status === 'paused';
    await waitUntil(isPaused, { ...patience, what: 'the pause' });
    expect(await world.cluster.status('typo')).toMatchObject({
      iteration: 0,
      failures: 0,
      why: { detail: `'${repo}' does not appear to be a git repository` },
      end: { outcome: 'BLOCKED' },
    });
    // One that may come back is looked for again, and each time later.
    expect(await world.cluster.status('away')).toMatchObject({
      status: 'running',
      why: { state: 'backoff' },
    });
    expect(one.child.exitCode).toBeNull();
  });

  it('are paused when their command does not exist, which is no iteration that went well', async () => {
    const world = await makeWorld(store);
    await world.submit('a', 'no-such-program');
    world.machine('one');
    const isPaused = async () => (await world.cluster.status('a'))?.status === 'paused';
    await waitUntil(isPaused, { ...patience, what: 'the pause' });
    expect((await world.cluster.status('a'))?.why.detail).toMatch(/^no-such-program is not installed on /);
    expect(world.iterationsNow('a')).toEqual([]);
  });

  it('are set aside when their iteration kills the process that runs it, three times', async () => {
    const world = await makeWorld(store);
    await world.submit('poison', world.agent('poison', 'echo killed >>"$LOG"; kill -9 $PPID; sleep 60'));
    world.machine('one');
    const isPaused = async () => (await world.cluster.status('poison'))?.status === 'paused';
    await waitUntil(isPaused, { ...patience, what: 'the pause' });
    expect(world.log('ran.txt')).toEqual(['killed', 'killed', 'killed']);
    expect((await world.cluster.status('poison'))?.end).toMatchObject({
      outcome: 'NEEDS_DECISION',
      because: { text: 'iteration 1 has ended 3 workers that ran it' },
    });
  });

  it('go to another machine when one is logged out, which takes no more of that agent', async () => {
    const world = await makeWorld(store);
    const install = (name: string, steps: readonly Step[]) =>
      installFakeAgent(join(world.home, name), { agent: 'claude', script: { turns: [{ steps }] } });
    const out = await install('out', [{ error: { status: 401, message: 'Please run /login' } }]);
    const fine = await install('fine', [work, { text: tag }]);
    await world.submit('a', 'claude', { options: { run: ['--completion-promise=DONE'] } });
    const one = world.machine('one', { bin: join(world.home, 'out') });
    await waitUntil(() => /takes no loops of claude for now/.test(one.text()), patience);
    expect(await world.cluster.status('a')).toMatchObject({ status: 'running', failures: 0 });
    const faultsOf = async () => (await world.cluster.hosts()).find(({ host }) => host === 'one')?.faults;
    await waitUntil(async () => (await faultsOf())?.claude?.includes('not logged in'), patience);
    world.machine('two', { bin: join(world.home, 'fine') });
    expect(await world.over('a')).toBe('stopped');
    expect([(await out.calls()).length, (await fine.calls()).length]).toEqual([1, 1]);
    expect(await world.cluster.status('a')).toMatchObject({
      iteration: 1,
      totalFailures: 0,
      end: { exitCode: 0 },
    });
  });

  describe.skipIf(!mayMount())('on a machine with a small disk', () => {
    /** A folder for a machine on a disk of its own. */
    function mountDisk(folder: string, size: string): void {
      mkdirSync(folder);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
      onTestFinished(() => void spawnSync('umount', ['--lazy', folder]));
    }

    it('are not taken when it is full, which the machine says', async () => {
      const world = await makeWorld(store);
      mountDisk(join(world.home, 'full'), '16m');
      const full = world.machine('full');
      await waitUntil(() => /takes no loops for now: its disk is full/.test(full.text()), patience);
      await world.submit('a', world.agent('agent', worker('0')), { max_iterations: 1 });
      const hosts = await runRalph(['hosts', '--cluster', world.url], { ...world, program: 'swarm' });
      expect(hosts.stdout).toMatch(/^full +ready .* its disk is full$/m);
      world.machine('two');
      expect(await world.over('a')).toBe('stopped');
      const { events } = await world.cluster.timeline('a');
      expect(events.map(({ text }) => text).join('\n')).not.toContain('on full');
      expect(await world.cluster.status('a')).toMatchObject({ totalFailures: 0 });
    });

    it('go to another one, uncounted, when an iteration fills it', async () => {
      const world = await makeWorld(store);
      mountDisk(join(world.home, 'small'), '64m');
      const fill =
        'case $PWD in */small/*) dd if=/dev/zero of=big bs=1M 2>/dev/null; echo full >>"$LOG";; esac';
      await world.submit('a', world.agent('agent', `${fill}; ${worker('0')}`), { max_iterations: 1 });
      const small = world.machine('small');
      await waitUntil(() => world.log('ran.txt').includes('full'), patience);
      const began = performance.now();
      world.machine('two');
      await waitUntil(() => /takes no loops for now: .*no space left/i.test(small.text()), patience);
      const isBack = async () => (await world.cluster.status('a'))?.host !== 'small';
      await waitUntil(isBack, { ...patience, what: 'the loop' });
      if (process.env.CLUSTER_MATRIX === 'all')
        process.stdout.write(`full disk to give-back: ${Math.round(performance.now() - began)} ms\n`);
      expect(await world.over('a')).toBe('stopped');
      expect(world.problems('a', 1)).toEqual([]);
      expect(await world.cluster.status('a')).toMatchObject({ totalFailures: 0 });
    });
  });
});

/** Mounts need root, and a container may forbid them to it. */
function mayMount(): boolean {
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
}
