import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clusterAddress } from '../../src/cluster/address.ts';
import { openRedis } from '../../src/cluster/redis.ts';
import type { Store } from '../../src/cluster/store.ts';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { makeWorld, patience, type World, worker } from '../cluster/machines.ts';
import { tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { missing, startRedis, type TestStore } from '../support/stores.ts';

type Order = Record<string, unknown> & { source: Record<string, unknown> };

/** Each changes one field of an order as somebody with access to the store could. */
const hostile: Readonly<Record<string, (order: Order) => unknown>> = {
  name: (order) => ({ ...order, name: '../../escaped' }),
  'name-of-another': (order) => ({ ...order, name: 'good' }),
  'name-of-a-folder': (order) => ({ ...order, name: '..' }),
  branch: (order) => ({ ...order, source: { ...order.source, branch: '../../escaped' } }),
  'branch-option': (order) => ({ ...order, source: { ...order.source, branch: '--upload-pack=touch' } }),
  base: (order) => ({ ...order, source: { ...order.source, base: 'a/../../escaped' } }),
  repo: (order) => ({ ...order, source: { ...order.source, repo: '--upload-pack=touch escaped' } }),
  cwd: (order) => ({ ...order, cwd: '../../escaped' }),
  'cwd-absolute': (order) => ({ ...order, cwd: '/tmp' }),
  'env-node': (order) => ({ ...order, env: { NODE_OPTIONS: '--require /tmp/escaped.cjs' } }),
  'env-loader': (order) => ({ ...order, env: { LD_PRELOAD: '/tmp/escaped.so' } }),
  'env-path': (order) => ({ ...order, env: { PATH: '/tmp/escaped' } }),
  'env-name': (order) => ({ ...order, env: { '-S touch escaped': '' } }),
  'env-pass': (order) => ({ ...order, source: { ...order.source, pass: ['SWARM_CLUSTER_PASSWORD'] } }),
  'run-option': (order) => ({ ...order, options: { run: ['--allow-host=*'] } }),
  'run-file': (order) => ({ ...order, options: { run: ['-f', '/etc/passwd'] } }),
  command: (order) => ({ ...order, command: [] }),
};

describe.skipIf(missing.redis !== null)("a worker is its owner's", { timeout: 180_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.stop());

  async function openInside(world: World): Promise<Store> {
    const address = clusterAddress(world.url, {});
    if (address === null) throw new Error('no address');
    const inside = await openRedis(address, { leaseMs: 60_000, callMs: 5000 });
    onTestFinished(() => inside.close());
    return inside;
  }

  it('makes nothing of an order with a name, a branch, a folder or a variable that leads out of its place', async () => {
    const world = await makeWorld(store);
    const inside = await openInside(world);
    const agent = world.agent('agent', worker('0'));
    const names = Object.keys(hostile);
    for (const name of names) await world.submit(name, agent, { max_iterations: 1 });
    for (const [key, text] of await inside.all('orders')) {
      const change = hostile[key.split(':')[0] ?? ''];
      if (change === undefined) throw new Error(key);
      expect(await inside.swap('orders', key, text, JSON.stringify(change(JSON.parse(text))))).toBe(true);
    }
    await world.submit('good', agent, { max_iterations: 1 });
    const machine = world.machine('one', { words: ['--no-sandbox', '--slots', '4'] });
    expect(await world.over('good')).toBe('stopped');
    for (const name of names) {
      const isPaused = async () => (await world.cluster.status(name))?.status === 'paused';
      await waitUntil(isPaused, { ...patience, what: `the refusal of ${name}` });
      expect((await world.cluster.status(name))?.why.detail).toBe('its order in the store cannot be read');
    }
    expect(world.log('ran.txt')).toEqual(['start good 1', 'end good 1']);
    expect(readdirSync(join(machine.dir, 'loops'))).toEqual(['good']);
    for (const folder of [world.home, machine.dir, join(machine.dir, 'repos'), world.origin])
      expect(readdirSync(folder).filter((entry) => entry.includes('escaped'))).toEqual([]);
    expect(existsSync(join(machine.dir, 'trees', 'good'))).toBe(false);
  });

  it('takes no entry under the name of another loop', async () => {
    const world = await makeWorld(store);
    const inside = await openInside(world);
    await world.submit('a', world.agent('agent', worker('0')));
    const text = await inside.get('loops', 'a');
    await inside.swap('loops', 'b', null, text);
    await inside.swap(
      'loops',
      '../../escaped',
      null,
      text?.replace('"name":"a"', '"name":"../../escaped"') ?? '',
    );
    expect((await world.cluster.list()).map(({ name }) => name)).toEqual(['a']);
    expect(await world.cluster.status('../../escaped')).toBeNull();
  });

  it('gives variables of a submitter to the agent, and to no other process', async () => {
    const world = await makeWorld(store);
    const show =
      'env >"$LOG"; tr "\\0" "\\n" </proc/$PPID/environ >"$LOG.parent"; cat >/dev/null; echo >>work.txt';
    await world.submit('a', world.agent('agent', show), { max_iterations: 1 });
    world.machine('one');
    expect(await world.over('a')).toBe('stopped');
    expect(world.log('ran.txt').filter((line) => line.startsWith('LOG='))).toHaveLength(1);
    expect(world.log('ran.txt.parent').length).toBeGreaterThan(3);
    expect(world.log('ran.txt.parent').filter((line) => line.startsWith('LOG='))).toEqual([]);
  });

  it('gives them through ralph run to the agent alone, too', async () => {
    const world = await makeWorld(store);
    const parent = `$(awk '/^PPid/ {print $2}' /proc/$PPID/status)`;
    const show = `tr '\\0' '\\n' </proc/${parent}/environ >"$LOG.parent"; env >"$LOG"`;
    const turns = [{ steps: [{ shell: show }, work, { text: tag }] }];
    await installFakeAgent(world.bin, { agent: 'claude', script: { turns } });
    await world.submit('a', 'claude', { options: { run: ['--completion-promise=DONE'] } });
    world.machine('one');
    expect(await world.over('a')).toBe('stopped');
    expect(world.log('ran.txt').filter((line) => line.startsWith('LOG='))).toHaveLength(1);
    expect(world.log('ran.txt.parent').filter((line) => line.startsWith('RALPH_AGENT_ENV='))).toHaveLength(1);
    expect(world.log('ran.txt.parent').filter((line) => line.startsWith('LOG='))).toEqual([]);
  });

  it('leaves records of a newer version as they are, sets malformed ones aside, and works on', async () => {
    const world = await makeWorld(store);
    const inside = await openInside(world);
    const agent = world.agent('agent', worker('0'));
    for (const name of ['newer', 'broken']) await world.submit(name, agent, { max_iterations: 1 });
    const newer = (await inside.get('loops', 'newer'))?.replace('"v":1', '"v":2,"more":true') ?? '';
    await inside.swap('loops', 'newer', await inside.get('loops', 'newer'), newer);
    await inside.swap('loops', 'broken', await inside.get('loops', 'broken'), '{"v":1');
    await world.submit('good', agent, { max_iterations: 1 });
    world.machine('one');
    expect(await world.over('good')).toBe('stopped');
    await waitUntil(async () => (await inside.get('aside', 'broken')) === '{"v":1', patience);
    expect(await inside.get('loops', 'newer')).toBe(newer);
    expect(world.log('ran.txt')).toEqual(['start good 1', 'end good 1']);
    await expect(world.submit('newer', agent)).rejects.toThrow('newer version');
    const swarm = (...words: string[]) =>
      runRalph([...words, '--cluster', world.url], { ...world, program: 'swarm' });
    const list = await swarm('ls', '--format', 'names');
    expect(list).toMatchObject({ code: 0, stdout: 'good\n' });
    expect(list.stderr).toContain("the record of 'newer' was written by a newer version");
    expect(list.stderr).toContain("the record of 'broken' cannot be read: it was set aside");
    expect((await swarm('status', 'newer')).stderr).toContain('newer version of ralphkit');
    await world.submit('broken', agent, { max_iterations: 1 });
    expect(await world.over('broken')).toBe('stopped');
    expect(await inside.get('loops', 'newer')).toBe(newer);
  });
});
