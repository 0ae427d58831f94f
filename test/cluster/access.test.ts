import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../../src/os/files/temp.ts';
import { certificate, certificateKey } from '../support/certificate.ts';
import { waitUntil } from '../support/processes.ts';
import { type RunResult, runRalph, startRalph } from '../support/ralph.ts';
import { freePort, missing, startRedis, type TestStore } from '../support/stores.ts';
import { makeWorld, patience, worker } from './machines.ts';

const password = 'hunter2 $(id) @:/?#%';
const wrongPassword = 'letmein-7781';

/** A store that lets nobody in but `keeper`, with a password, over TLS; `open` is its address in the clear. */
type GuardedStore = Pick<TestStore, 'fresh' | 'stop'> & { open(url: string): string };

describe.skipIf(missing.redis !== null)('Redis over TLS with a password', { timeout: 120_000 }, () => {
  let store: GuardedStore;
  let folder: string;
  let access: Record<'SWARM_CLUSTER_PASSWORD_FILE' | 'SWARM_CLUSTER_CA', string>;

  beforeAll(async () => {
    folder = makeTempDir('access-');
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'ca.pem'), certificate);
    writeFileSync(join(folder, 'key.pem'), certificateKey);
    writeFileSync(join(folder, 'password'), `${password}\n`);
    access = {
      SWARM_CLUSTER_PASSWORD_FILE: join(folder, 'password'),
      SWARM_CLUSTER_CA: join(folder, 'ca.pem'),
    };
    store = await guardedRedis(folder);
  });
  afterAll(async () => {
    await store.stop();
    removeTempDir(folder);
  });

  it('runs a loop, and the password is nowhere to be seen', async () => {
    const world = await makeWorld(store, 2400, access);
    const swarm = (...words: string[]) =>
      runRalph([...words, '--cluster', world.url], { ...world, program: 'swarm' });
    const script = `${worker('0')}; env >"$LOG.env"; tr '\\0' '\\n' </proc/$PPID/environ >"$LOG.parent"; sleep 1`;
    await world.submit('a', world.agent('agent', script), { max_iterations: 1 });
    const machine = world.machine('one');
    await waitUntil(() => world.log('ran.txt').includes('start a 1'), patience);
    const shown = [commandLines([machine.pid, ...machine.processes()])];
    expect(await world.over('a')).toBe('stopped');
    expect(world.problems('a', 1)).toEqual([]);
    const commands = [
      ['ls', '--format', 'json'],
      ['hosts', '--format', 'json'],
      ['why', 'a', '--format', 'json'],
      ['logs', 'a', '--history'],
      ['ralph', 'status', 'a'],
    ];
    for (const words of commands) {
      const { stdout, stderr } = await tryUntil(
        () => swarm(...words),
        ({ code }) => code === 0,
      );
      shown.push(stdout, stderr);
    }
    shown.push(await dashboardOf(world));
    shown.push(machine.text(), ...world.log('ran.txt.env'), ...world.log('ran.txt.parent'));
    for (const file of filesIn(machine.dir)) shown.push(readFileSync(file, 'latin1'));
    shown.push(JSON.stringify([await world.cluster.order('a'), await world.cluster.timeline('a')]));
    expect(shown.join('\n').length).toBeGreaterThan(5000);
    expect(shown.filter((text) => text.includes('hunter2'))).toEqual([]);
    expect(world.log('ran.txt.env').filter((line) => line.startsWith('SWARM_CLUSTER'))).toEqual([]);
  });

  it('says what is wrong where it does not let somebody in, and nothing of the password', async () => {
    const world = await makeWorld(store, 2400, access);
    const wrong = { ...access, SWARM_CLUSTER_PASSWORD_FILE: join(folder, 'wrong') };
    writeFileSync(wrong.SWARM_CLUSTER_PASSWORD_FILE, wrongPassword);
    const { SWARM_CLUSTER_CA: _ca, ...withoutCa } = access;
    const { SWARM_CLUSTER_PASSWORD_FILE: _file, ...withoutPassword } = access;
    const inUrl = world.url.replace('keeper@', `keeper:${encodeURIComponent(wrongPassword)}@`);
    const tries = [
      { what: /password|WRONGPASS/, env: wrong },
      { what: /certificate/, env: withoutCa },
      { what: /password|NOAUTH/i, env: withoutPassword },
      { what: /password|WRONGPASS/, env: { ...access, SWARM_CLUSTER: inUrl }, words: [] },
      { what: /can be read by everybody/, env: access, words: ['--cluster', inUrl] },
      {
        what: /password|WRONGPASS/,
        env: withoutPassword,
        words: ['--cluster', store.open(world.url)],
      },
    ];
    const clean = { ...world.env, SWARM_CLUSTER_CA: undefined, SWARM_CLUSTER_PASSWORD_FILE: undefined };
    for (const { what, env, words = ['--cluster', world.url] } of tries) {
      const options = { ...world, env: { ...clean, ...env, RALPH_DEBUG: '1' }, program: 'swarm' } as const;
      const run = async () => {
        const ran = await runRalph(['ls', ...words], options);
        expect(ran.stdout + ran.stderr).not.toMatch(/hunter2|letmein/);
        return ran;
      };
      const { code } = await tryUntil(run, ({ stderr }) => what.test(stderr));
      expect(code).toBeGreaterThan(0);
    }
  });
});

/** On a busy machine, a connection may take longer than a command waits for it. */
async function tryUntil(
  run: () => Promise<RunResult>,
  isRight: (ran: RunResult) => boolean,
): Promise<RunResult> {
  for (let left = 4; ; left--) {
    const ran = await run();
    if (isRight(ran)) return ran;
    if (left === 0 || !/time/i.test(ran.stderr)) throw new Error(`unexpected: ${JSON.stringify(ran)}`);
  }
}

async function guardedRedis(folder: string): Promise<GuardedStore> {
  const port = await freePort();
  const files = [
    ['--tls-cert-file', 'ca.pem'],
    ['--tls-key-file', 'key.pem'],
    ['--tls-ca-cert-file', 'ca.pem'],
  ].flatMap(([option = '', file = '']) => [option, join(folder, file)]);
  const acl = join(folder, 'users.acl');
  const digest = execFileSync('sha256sum', { input: password, encoding: 'utf8' }).slice(0, 64);
  writeFileSync(
    acl,
    `user default off\nuser keeper on #${digest} ~ralph-* &* +@all -@admin -@dangerous +info\n`,
  );
  const tls = ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files];
  const store = await startRedis([...tls, '--aclfile', acl]);
  return {
    stop: () => store.stop(),
    fresh: async () =>
      (await store.fresh()).replace(/^redis:\/\/127.0.0.1:\d+/, `rediss://keeper@127.0.0.1:${port}`),
    open: (url) => url.replace(/^rediss:\/\/keeper@127.0.0.1:\d+/, `redis://keeper@127.0.0.1:${store.port}`),
  };
}

function commandLines(pids: readonly number[]): string {
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .join('\n');
}

/** All that the page of `swarm dashboard` and its data say. */
async function dashboardOf(world: Awaited<ReturnType<typeof makeWorld>>): Promise<string> {
  const { child, output } = startRalph(['dashboard', '--cluster', world.url, '--no-open'], {
    ...world,
    program: 'swarm',
  });
  const find = () => /http:\S+/.exec(output.stdout)?.[0] ?? null;
  const { origin, hash } = new URL((await waitUntil(find, { ...patience, what: 'the dashboard' })) ?? '');
  const headers = { Authorization: `Bearer ${hash.replace('#token=', '')}` };
  const page = await (await fetch(`${origin}/api/loops`, { headers })).text();
  expect(page).toContain('"a"');
  child.kill('SIGTERM');
  return `${output.stdout}${output.stderr}${page}`;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}
