import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitUntil } from './processes.ts';

/** The Redis of a test, on a free port of this machine, with its files in a temp folder. */
export type TestStore = {
  /** For `--cluster`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Returns an address in it where nothing is yet. */
  fresh(): Promise<string>;
  /** Ends it as a crash does, and starts it again on the same port with what it had written. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
};

/** The server to test with: TEST_REDIS names another, such as valkey-server. */
const server = process.env.TEST_REDIS ?? findProgram('redis-server');

/** What keeps a store from being started here; null where nothing does. */
export const missing = { redis: server === null ? 'redis-server is not installed' : null } as const;

const databases = 1000;

/** Starts a Redis that writes every change to its file, so that a kill loses nothing. */
export async function startRedis(words: readonly string[] = []): Promise<TestStore> {
  const dir = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const files = ['--dir', dir, '--appendonly', 'yes', '--save', '', '--databases', String(databases)];
  const argv = ['--port', String(port), '--bind', '127.0.0.1', ...files, ...words];
  let count = 0;
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const started = spawn(server ?? 'redis-server', argv, { cwd: dir, stdio: 'ignore' });
    await waitUntil(() => replies(port, 'PING\r\n', /^\+PONG|^-NOAUTH/), {
      timeoutMs: 60_000,
      what: `Redis on port ${port}`,
    });
    return started;
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const gone = new Promise((done) => child.once('exit', done));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await gone;
  }

  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    async fresh() {
      if (++count >= databases) throw new Error(`a Redis for tests has ${databases} databases`);
      return `redis://127.0.0.1:${port}/${count}`;
    },
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

function replies(port: number, text: string, expected: RegExp): Promise<boolean> {
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

function findProgram(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const folder = folders.find((one) => existsSync(join(one, name)));
  return folder === undefined ? null : join(folder, name);
}
