import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { AgentRow } from './table.ts';

export type PlaceOptions = {
  readonly row: AgentRow;
  readonly program: string;
  readonly cwd: string;
  readonly home: string;
  /** The model that it talks to. */
  readonly model: { readonly url: string; readonly port: number };
  /** The words that `isolation()` of scripts/offline.mjs gives. */
  readonly isolation: readonly string[] | null;
};

/** Where a real agent finds its configuration and a model, and nothing else. */
export type Place = {
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What the agent needs besides. */
  readonly agentEnv: Readonly<Record<string, string>>;
  /** Words before a command that keep it off the network. */
  readonly through: readonly string[];
  close(): void;
};

export async function preparePlace(options: PlaceOptions): Promise<Place> {
  const { row, program, cwd, home, model, isolation } = options;
  const fill = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('{url}', model.url));
  for (const [name, content] of Object.entries(fill(row.files ?? {}))) {
    const path = name.replace(/^~/, home);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Array.isArray(content) ? content.join('\n') : JSON.stringify(content));
  }
  const temp = join(home, 'tmp');
  mkdirSync(temp, { recursive: true });
  // Nothing of our own environment: it may hold real keys.
  const base = {
    HOME: home,
    TMPDIR: temp,
    PATH: process.env.PATH ?? '',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    RALPH_TRUST: '1',
  };
  const socket = join(home, 'model.sock');
  const env = isolation ? base : { ...base, ...noProxy() };
  const through = isolation ? [...isolation, socket, String(model.port)] : [];
  const close = isolation ? await carry(socket, model.port) : () => {};
  const agentEnv = fill(row.env ?? {});
  if (row.setup) {
    const [first = '', ...words] = [...through, program, ...fill(row.setup)];
    execFileSync(first, words, { cwd, env: { ...env, ...agentEnv }, stdio: 'ignore', timeout: 60_000 });
  }
  return { env, agentEnv, through, close };
}

/** Without a network namespace, a proxy that does not exist is the next best way to stay off the network. */
function noProxy(): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9';
  const names = ['http_proxy', 'https_proxy', 'all_proxy'];
  const proxies = names.flatMap((name) => [
    [name, nowhere],
    [name.toUpperCase(), nowhere],
  ]);
  return { ...Object.fromEntries(proxies), no_proxy: '127.0.0.1', NO_PROXY: '127.0.0.1' };
}

/** The outer half of the way to the model; scripts/offline.mjs is the inner one. */
async function carry(socket: string, port: number): Promise<() => void> {
  const server = createServer((inner) => {
    const outer = connect(port, '127.0.0.1');
    inner.pipe(outer).pipe(inner);
    inner.on('error', () => outer.destroy());
    outer.on('error', () => inner.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  return () => void server.close();
}
