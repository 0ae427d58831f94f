import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { isAlive, processIdentity } from '../process/process-identity.ts';
import { acquireLock, type Lock, type LockResult, lockOwner, unreadableLock } from './lock.ts';

let folder = '';
let path = '';
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'lock');
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

const deadOwner = { pid: 2 ** 30, startedAt: 'long ago', token: 'x', info: { task: 'old' } };

function held(result: LockResult): Lock {
  if (!result.ok) throw new Error(`held by ${result.owner.pid}`);
  return result.lock;
}

/** Starts processes that run `body` (with `acquireLock` and `path`) at the same moment; gives what each printed. */
async function race(count: number, body: string, during?: () => void): Promise<string[]> {
  const entry = new URL('lock.ts', import.meta.url).pathname;
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile: join(folder, 'lock.cjs') });
  const script = `
    const fs = require('node:fs');
    const { acquireLock } = require('./lock.cjs');
    const path = ${JSON.stringify(path)};
    process.stdin.once('data', () => { ${body} });
    process.stdout.write('ready ');`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: '' };
  const runs = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, ['-e', script], {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stdin.on('error', () => {});
    return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
  });
  await waitUntil(() => runs.every(({ output }) => output() !== ''));
  for (const { child } of runs) child.stdin.write('go');
  during?.();
  await waitUntil(() =>
    runs.every(
      ({ child, output }) => output().includes('\n') || child.exitCode !== null || child.signalCode !== null,
    ),
  );
  for (const { child } of runs) child.stdin.end();
  await Promise.all(runs.map(({ ended }) => ended));
  return runs.map(({ output }) => output().replace('ready ', '').trim());
}

const tryOnce = `
  const result = acquireLock(path, {});
  process.stdout.write((result.ok ? result.tookOver ? 'took over' : 'won' : 'lost') + '\\n');`;

describe('acquireLock', () => {
  it('gives a free lock, tells others who has it, and can be had again after its release', () => {
    const lock = held(acquireLock(path, { task: 'a' }));
    const second = acquireLock(path, { task: 'b' });
    expect(second).toEqual({ ok: false, owner: { ...processIdentity(process.pid), info: { task: 'a' } } });
    lock.release();
    held(acquireLock(path, { task: 'c' })).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('shows what its owner said', () => {
    const lock = held(acquireLock(path, { iteration: 1 }));
    expect(acquireLock(path, {})).toMatchObject({ ok: false, owner: { info: { iteration: 1 } } });
    lock.release();
    expect(existsSync(path)).toBe(false);
  });

  it('puts back a lock that was removed, unless another has it by now', () => {
    const lock = held(acquireLock(path, { n: 1 }));
    expect(lock.restore({ n: 2 })).toBe(false);
    rmSync(path);
    expect(lock.restore({ n: 3 })).toBe(true);
    expect(lockOwner(path)).toEqual({ ...processIdentity(process.pid), info: { n: 3 } });
    rmSync(path);
    const other = held(acquireLock(path, { n: 4 }));
    expect(lock.restore({ n: 5 })).toBe(false);
    other.release();
    expect(lockOwner(path)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  const bent: [string, () => void][] = [
    ['is no lock any more', () => writeFileSync(path, '{}')],
    ['is torn', () => writeFileSync(path, '{"pid":')],
    ['names a dead owner', () => writeFileSync(path, JSON.stringify(deadOwner))],
    [
      'is a folder',
      () => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    [
      'is a link',
      () => {
        rmSync(path);
        symlinkSync(join(folder, 'nowhere'), path);
      },
    ],
  ];
  it.each(bent)('puts back a lock that %s, and keeps what was found', (_, bend) => {
    const lock = held(acquireLock(path, { n: 1 }));
    bend();
    expect(lock.restore({ n: 3 })).toBe(true);
    expect(lockOwner(path)).toEqual({ ...processIdentity(process.pid), info: { n: 3 } });
    lock.release();
    expect(readdirSync(folder)).toEqual(['lock.bad-1']);
  });

  it('puts back the folder of a lock when a file or a link is in its place', () => {
    const state = join(folder, 'state');
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(state);
    path = join(state, 'lock');
    const lock = held(acquireLock(path, {}));
    rmSync(state, { recursive: true });
    writeFileSync(state, '');
    expect(lock.restore({})).toBe(true);
    renameSync(state, elsewhere);
    symlinkSync(elsewhere, state);
    expect(lock.restore({})).toBe(true);
    expect(lstatSync(state).isDirectory()).toBe(true);
    expect(lockOwner(path)).not.toBeNull();
    lock.release();
    expect(readdirSync(state)).toEqual([]);
  });

  it('releases quietly what is no lock any more', () => {
    const lock = held(acquireLock(path, {}));
    rmSync(path);
    mkdirSync(path);
    lock.release();
    expect(existsSync(path)).toBe(true);
  });

  it('tells of a lock that cannot be read in words, and says nothing of one that can', () => {
    writeFileSync(path, '{}');
    const torn = acquireLock(path, {});
    expect(torn.ok || unreadableLock(path, torn.owner)).toMatchObject({
      message: `there is a lock that cannot be read: ${path}`,
      remedy: `remove it if no loop runs here: rm '${path}'`,
    });
    rmSync(path);
    const lock = held(acquireLock(path, {}));
    const taken = acquireLock(path, {});
    expect(taken.ok || unreadableLock(path, taken.owner)).toBeNull();
    lock.release();
  });

  it('releases only a lock of its own', () => {
    const lock = held(acquireLock(path, {}));
    rmSync(path);
    const other = held(acquireLock(path, { mine: true }));
    lock.release();
    expect(acquireLock(path, {})).toMatchObject({ ok: false, owner: { info: { mine: true } } });
    other.release();
  });

  it('takes over from a dead owner and tells whose it was', () => {
    writeFileSync(path, JSON.stringify(deadOwner));
    const result = acquireLock(path, {});
    expect(result).toMatchObject({ ok: true, tookOver: { pid: deadOwner.pid, info: { task: 'old' } } });
    held(result).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over also where one who was taking over died', () => {
    writeFileSync(path, JSON.stringify(deadOwner));
    writeFileSync(`${path}.takeover`, JSON.stringify(deadOwner));
    held(acquireLock(path, {})).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves a dead lock to the one who is taking it over', () => {
    writeFileSync(path, JSON.stringify(deadOwner));
    const claim = held(acquireLock(`${path}.takeover`, { who: 'first' }));
    expect(acquireLock(path, { who: 'second' })).toMatchObject({
      ok: false,
      owner: { info: { who: 'first' } },
    });
    claim.release();
  });

  it('waits out a torn lock that may be half-written, and takes over one that cannot be', () => {
    writeFileSync(path, '{"pid":');
    expect(acquireLock(path, {})).toMatchObject({ ok: false, owner: { pid: 0 } });
    utimesSync(path, 1, 1);
    held(acquireLock(path, {})).release();
  });

  it('says so when something else is in its place', () => {
    expect(() => acquireLock(folder, {})).toThrow('not a regular file');
    expect(() => acquireLock(join(folder, 'no', 'lock'), {})).toThrow('cannot be written');
    writeFileSync(join(folder, 'file'), '');
    expect(() => acquireLock(join(folder, 'file', 'lock'), {})).toThrow('a part of its path is no folder.');
  });

  it.skipIf(process.platform === 'win32')('takes over from a zombie', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(parent);
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
    const owner = processIdentity(pid);
    if (owner === null) throw new Error('the child was not seen alive');
    writeFileSync(path, JSON.stringify({ ...owner, token: 'x', info: {} }));
    expect(acquireLock(path, {}).ok).toBe(false);
    await waitUntil(() => !isAlive(owner));
    expect(acquireLock(path, {})).toMatchObject({ ok: true, tookOver: { pid } });
  });

  it('goes to one of 20 processes', async () => {
    const results = await race(20, tryOnce);
    expect(results.sort()).toEqual([...Array(19).fill('lost'), 'won']);
  });

  it('goes to one of 20 processes when its owner is dead', async () => {
    writeFileSync(path, JSON.stringify(deadOwner));
    const results = await race(20, tryOnce);
    expect(results.sort()).toEqual([...Array(19).fill('lost'), 'took over']);
  });

  it('goes to one process each time when many dead locks are taken over at the same moments', async () => {
    const rounds = 150;
    for (let n = 0; n < rounds; n++) writeFileSync(`${path}.${n}`, JSON.stringify(deadOwner));
    const takeAll = `
      let won = 0;
      for (let n = 0; n < ${rounds}; n++) if (acquireLock(path + '.' + n, {}).ok) won++;
      process.stdout.write(won + '\\n');`;
    const results = await race(6, takeAll);
    expect(results.reduce((sum, won) => sum + Number(won), 0)).toBe(rounds);
  });

  it('is never held twice while owners come, go and are killed', async () => {
    const work = `
      for (let done = 0; done < 15; ) {
        const result = acquireLock(path, {});
        if (!result.ok) continue;
        if (result.tookOver) fs.rmSync('inside', { force: true });
        fs.appendFileSync('log', 'x');
        fs.writeFileSync('inside', '', { flag: 'wx' });
        if (Math.random() < 0.05) process.kill(process.pid, 'SIGKILL');
        fs.rmSync('inside');
        result.lock.release();
        done++;
      }
      process.stdout.write('done\\n');`;
    const results = await race(12, work, () => {
      for (const [index, child] of children.slice(0, 4).entries())
        setTimeout(() => child.kill('SIGKILL'), index * 40);
    });
    // A second owner would fail to make the file, and print nothing, without having been killed.
    const broken = children.filter((child) => child.signalCode === null && child.exitCode !== 0);
    expect(broken).toEqual([]);
    // One may be killed after its last word.
    expect(results.filter((result) => result === 'done').length).toBeGreaterThanOrEqual(
      children.filter((c) => c.exitCode === 0).length,
    );
    expect(readFileSync(join(folder, 'log'), 'utf8').length).toBeGreaterThan(15);
  });
});
