import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitUntil } from './processes.ts';

/** A database for a test, on a free port of this machine, with its files in a temp folder. */
export type TestStore = {
  /** For `--cluster`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** An address in it where nothing is yet. */
  fresh(): Promise<string>;
  /** Ends it as a crash does, and starts it again on the same port with what it had written. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
};

/** What keeps a store from being started here; null where nothing does. */
export const missing = {
  redis: findProgram('redis-server') === null ? 'redis-server is not installed' : null,
  postgres: whyNoPostgres(),
} as const;

/** Redis that writes every change to its file, so that a kill loses nothing. */
export async function startRedis(words: readonly string[] = []): Promise<TestStore> {
  const dir = mkdtempSync(join(tmpdir(), 'redis-'));
  const program = findProgram('redis-server') ?? 'redis-server';
  const databases = 1000;
  const files = ['--dir', dir, '--appendonly', 'yes', '--save', '', '--databases', String(databases)];
  return startStore(
    dir,
    (port) => [program, '--port', String(port), '--bind', '127.0.0.1', ...files, ...words],
    (port) => `redis://127.0.0.1:${port}/0`,
    (port) => replies(port, 'PING\r\n', /^\+PONG|^-NOAUTH/),
    async (url, count) => {
      if (count >= databases) throw new Error(`a Redis for tests has ${databases} databases`);
      return url.replace(/0$/, String(count));
    },
  );
}

/**
 * PostgreSQL refuses to run as root: then it runs as the user of its package. `setUp` may change its files, and gives
 * more words for the server.
 */
export async function startPostgres(
  setUp: (data: string) => readonly string[] = () => [],
): Promise<TestStore> {
  const dir = mkdtempSync(join(tmpdir(), 'pg-'));
  const bin = postgresFolder() ?? '';
  const prefix = runAs(dir);
  const data = join(dir, 'data');
  // Its files outlive a kill without being forced to the disk.
  const place = ['-D', data, '-k', dir, '-c', 'fsync=off'];
  const [initdb = '', ...words] = [...prefix, join(bin, 'initdb')];
  const options = ['-D', data, '-U', 'swarm', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale', 'C'];
  execFileSync(initdb, [...words, ...options], { stdio: 'ignore', cwd: dir });
  const own = setUp(data);
  return startStore(
    dir,
    (port) => [...prefix, join(bin, 'postgres'), ...place, '-p', String(port), '-h', '127.0.0.1', ...own],
    (port) => `postgres://swarm@127.0.0.1:${port}/postgres`,
    async (port) => {
      try {
        execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    },
    async (url, count) => {
      const name = `fleet${count}`;
      execFileSync(join(bin, 'psql'), ['-q', url, '-c', `CREATE DATABASE ${name}`], { stdio: 'ignore' });
      return url.replace(/postgres$/, name);
    },
  );
}

async function startStore(
  dir: string,
  argv: (port: number) => readonly string[],
  url: (port: number) => string,
  isReady: (port: number) => Promise<boolean>,
  fresh: (url: string, count: number) => Promise<string>,
): Promise<TestStore> {
  const port = await freePort();
  let made = 0;
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const [program = '', ...words] = argv(port);
    let started = spawn(program, words, { cwd: dir, stdio: 'ignore' });
    const look = () => {
      // Right after a crash, what is left of the old one may keep PostgreSQL from starting.
      if (started.exitCode !== null) started = spawn(program, words, { cwd: dir, stdio: 'ignore' });
      return isReady(port);
    };
    await waitUntil(look, { timeoutMs: 60_000, what: `${program} on port ${port}` });
    return started;
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const gone = new Promise((done) => child.once('exit', done));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await gone;
  }

  return {
    url: url(port),
    port,
    get pid() {
      return child.pid ?? 0;
    },
    fresh: () => fresh(url(port), ++made),
    async restart() {
      await end('SIGKILL');
      child = await start();
    },
    async stop() {
      await end('SIGQUIT');
      rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function replies(port: number, text: string, expected: RegExp): Promise<boolean> {
  const { connect } = await import('node:net');
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    const finish = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket.once('data', (data) => finish(expected.test(data.toString())));
    socket.once('error', () => finish(false));
    socket.setTimeout(1000, () => finish(false));
  });
}

function whyNoPostgres(): string | null {
  if (postgresFolder() === null) return 'postgresql is not installed';
  const isRoot = process.getuid?.() === 0;
  return isRoot && userId('postgres') === null ? 'postgresql does not run as root' : null;
}

/** The words before a command that make it run as a user who may run PostgreSQL and who owns `dir`. */
function runAs(dir: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const user = userId('postgres');
  if (user === null) throw new Error('postgresql does not run as root, and there is no user postgres');
  chownSync(dir, user.uid, user.gid);
  // The folder of the whole test run is for its owner only; the way through it must be open.
  const { mode } = statSync(tmpdir());
  if ((mode & 0o001) === 0) chmodSync(tmpdir(), (mode & 0o7777) | 0o011);
  return ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'];
}

function userId(name: string): { uid: number; gid: number } | null {
  try {
    const ask = (flag: string) =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return null;
  }
}

/** Debian keeps the programs of the server off the PATH. */
function postgresFolder(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(root, version, 'bin')), ...pathFolders()];
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

function findProgram(name: string): string | null {
  const folder = pathFolders().find((one) => existsSync(join(one, name)));
  return folder === undefined ? null : join(folder, name);
}

function pathFolders(): string[] {
  return (process.env.PATH ?? '').split(delimiter);
}
