import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { homeVariables } from '../support/home.ts';
import { alive, waitUntil } from '../support/processes.ts';
import { readableDist } from '../support/ralph.ts';
import { give, type Who } from '../support/who.ts';
import { secrets, type World } from './probes.ts';
import { git, makeFolder, makeFolders } from './support.ts';

type Ran = { readonly code: number | null; readonly output: string };

/** Worlds to attack, and the built ralph that shall protect them. */
export type Worlds = {
  make(who: Who): Promise<World>;
  /** Runs words as somebody, in the repository. */
  run(who: Who, world: World, words: readonly string[]): Promise<Ran>;
  /** Starts them and does not wait. */
  start(who: Who, world: World, words: readonly string[]): ChildProcess;
  /** The words that run a script in the sandbox of the world. */
  inside(world: World, script: string, ...options: string[]): string[];
  close(): void;
};

/** What the probes need to know, and a key that is not meant for them. */
const told = ['BASE', 'OUTSIDE', 'PORT', 'VICTIM'];

export async function openWorlds(settings: object): Promise<Worlds> {
  const ralph = join(readableDist(), 'ralph.cjs');
  const server = createServer((_asked, answer) => void answer.end('REACHED'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const template = makeTemplate();
  const kept: { base: string; helpers: ChildProcess[]; services: NetServer[] }[] = [];

  const start: Worlds['start'] = (who, world, words) => {
    const [program = '', ...rest] = [...who.through, ...words];
    return spawn(program, rest, {
      cwd: world.repo,
      env: variables(world),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  return {
    start,
    async make(who) {
      const base = makeFolder('world-');
      cpSync(template, base, { recursive: true });
      const [home, repo, outside] = [join(base, 'home'), join(base, 'the repo'), join(base, 'outside')];
      const world = { base, home, repo, outside, port, victim: 0 };
      const services = await Promise.all([base, repo].map((folder) => listenIn(folder)));
      give(world.base, who);
      const sleeper = start(who, world, ['sleep', '600']);
      await once(sleeper, 'spawn');
      // Before, it is not yet his, and nobody else may end it.
      await waitUntil(() => commandLine(sleeper.pid) === ['sleep', '600', ''].join('\0'), {
        timeoutMs: 30_000,
      });
      // Node.js has no such sockets.
      const messages = spawn('perl', ['-MSocket', '-e', receive, join(repo, 'messages.sock')], {
        stdio: 'ignore',
      });
      await waitUntil(() => existsSync(join(repo, 'messages.sock')), { timeoutMs: 30_000 });
      kept.push({ base: world.base, helpers: [sleeper, messages], services });
      return { ...world, victim: sleeper.pid ?? 0 };
    },
    async run(who, world, words) {
      const child = start(who, world, words);
      let output = '';
      const read = (chunk: Buffer) => {
        output += chunk.toString();
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      const [code] = await once(child, 'close');
      return { code, output };
    },
    inside(world, script, ...options) {
      const file = join(world.repo, '.ralph', 'settings.json');
      writeFileSync(file, JSON.stringify({ ...settings, sandboxEnv: told }));
      return [process.execPath, ralph, 'sandbox', 'exec', ...options, '--', 'sh', '-c', script];
    },
    close() {
      server.close();
      for (const { base, helpers, services } of kept) {
        for (const service of services) service.close();
        for (const helper of helpers) helper.kill('SIGKILL');
        rmSync(base, { recursive: true, force: true });
      }
      rmSync(template, { recursive: true, force: true });
    },
  };
}

const receive =
  'umask 0; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); recv(S, $x, 9, 0) while 1';

async function listenIn(folder: string): Promise<NetServer> {
  const service = createNetServer((socket) => socket.end('REACHED'));
  service.listen(join(folder, 'service.sock'));
  await once(service, 'listening');
  return service;
}

/** A home with keys and a repository with a loop's state. */
function makeTemplate(): string {
  const base = makeFolder('template-');
  const [home, repo, outside] = [join(base, 'home'), join(base, 'the repo'), join(base, 'outside')];
  const holders = secrets.map((name) => dirname(join(home, name)));
  makeFolders(join(base, 'tmp'), home, repo, outside, join(repo, '.ralph'), ...holders);
  makeFolders(...programFolders(home));
  for (const name of secrets) writeFileSync(join(home, name), 'SECRET\n');
  writeFileSync(join(home, '.bashrc'), '# mine\n');
  writeFileSync(join(outside, 'canary.txt'), 'alive\n');
  writeFileSync(join(repo, '.ralph', 'settings.json'), '{}\n');
  writeFileSync(join(repo, 'README.md'), 'x\n');
  git(repo, 'init', '-q', '-b', 'main');
  git(repo, 'config', 'user.name', 'dev');
  git(repo, 'config', 'user.email', 'dev@example.com');
  git(repo, 'config', 'include.path', '../included.inc');
  git(repo, 'add', 'README.md');
  git(repo, 'commit', '-qm', 'one');
  return base;
}

const programFolders = (home: string): string[] =>
  ['.cargo/bin', '.docker/bin', '.config/bin'].map((name) => join(home, name));

function variables({ base, home, outside, port, victim }: World): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...homeVariables(home),
    PATH: [...programFolders(home), process.env.PATH].join(delimiter),
    TMPDIR: join(base, 'tmp'),
    DEPLOY_TOKEN: 'SECRET',
    BASE: base,
    OUTSIDE: outside,
    PORT: String(port),
    VICTIM: String(victim),
  };
}

/** All probes one after the other; one that fails must not end the others. */
export function scriptOf(probes: readonly { readonly command: string }[]): string {
  const all = probes.map(({ command }) => `( ${command} ) </dev/null`).join('\n');
  return `${all}\necho ran to the end > ran.txt`;
}

function commandLine(pid: number | string | undefined): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return null;
  }
}

/** The ids of the processes that sleep that long; null for none. */
export function sleeping(seconds: string): number[] | null {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.filter((pid) => commandLine(pid) === `sleep\0${seconds}\0`);
  const living = found.map(Number).filter(alive);
  return living.length === 0 ? null : living;
}
