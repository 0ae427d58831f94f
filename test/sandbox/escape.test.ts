import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeVariables } from '../support/home.ts';
import { alive, waitUntil } from '../support/processes.ts';
import { leftovers, type Probe, probes, rootProbes, type World } from './probes.ts';
import {
  bwrapWorks,
  everybody,
  git,
  give,
  makeFolder,
  makeFolders,
  readableRalph,
  type Who,
} from './support.ts';

const secrets = [
  '.ssh/id_rsa',
  '.aws/credentials',
  '.gnupg/secret',
  '.kube/config',
  '.docker/config.json',
  '.netrc',
];

let ralph = '';
let server: Server;
const worlds: Lived[] = [];

type Lived = World & { readonly sleeper: ChildProcess; readonly service: NetServer };

/** A home with keys, a repository with a loop's state, and a process and a socket of somebody else. */
async function makeWorld(who: Who): Promise<Lived> {
  const base = makeFolder('world-');
  const [home, repo, outside] = ['home', 'the repo', 'outside'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  makeFolders(
    join(base, 'tmp'),
    home,
    repo,
    outside,
    join(repo, '.ralph'),
    ...secrets.map((name) => dirname(join(home, name))),
  );
  for (const name of secrets) writeFileSync(join(home, name), 'SECRET\n');
  writeFileSync(join(home, '.bashrc'), '# mine\n');
  writeFileSync(join(outside, 'canary.txt'), 'alive\n');
  writeFileSync(join(repo, '.ralph', 'settings.json'), '{}\n');
  writeFileSync(join(repo, 'README.md'), 'x\n');
  git(repo, 'init', '-q', '-b', 'main');
  git(repo, 'config', 'user.name', 'dev');
  git(repo, 'config', 'user.email', 'dev@example.com');
  git(repo, 'add', 'README.md');
  git(repo, 'commit', '-qm', 'one');
  const service = createNetServer((socket) => socket.end('REACHED'));
  service.listen(join(base, 'service.sock'));
  await once(service, 'listening');
  give(base, who);
  const sleeper = spawn(
    [...who.through, 'sleep'][0] ?? '',
    [...who.through.slice(1), ...(who.through.length > 0 ? ['sleep'] : []), '600'],
    {
      stdio: 'ignore',
    },
  );
  await once(sleeper, 'spawn');
  const { port } = server.address() as AddressInfo;
  const world = { base, home, repo, outside, port, victim: sleeper.pid ?? 0, sleeper, service };
  worlds.push(world);
  return world;
}

function variables(world: World): NodeJS.ProcessEnv {
  const { base, outside, port, victim } = world;
  return {
    ...process.env,
    ...homeVariables(world.home),
    TMPDIR: join(world.base, 'tmp'),
    DEPLOY_TOKEN: 'SECRET',
    BASE: base,
    OUTSIDE: outside,
    PORT: String(port),
    VICTIM: String(victim),
  };
}

/** Runs words as somebody, in the repository. The server of this test must be able to answer meanwhile. */
async function run(
  who: Who,
  world: World,
  words: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const [program = '', ...rest] = [...who.through, ...words];
  const child = spawn(program, rest, {
    cwd: world.repo,
    env: variables(world),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = await once(child, 'close');
  return { code, output };
}

const passed = ['BASE', 'OUTSIDE', 'PORT', 'VICTIM'];

function inside(world: World, script: string, ...options: string[]): string[] {
  writeFileSync(
    join(world.repo, '.ralph', 'settings.json'),
    JSON.stringify({ sandbox: 'bwrap', sandboxEnv: passed }),
  );
  return [process.execPath, ralph, 'sandbox', 'exec', ...options, '--', 'sh', '-c', script];
}

beforeAll(async () => {
  ralph = readableRalph();
  server = createServer((_asked, answer) => void answer.end('REACHED'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
  for (const { base, sleeper, service } of worlds) {
    service.close();
    sleeper.kill('SIGKILL');
    rmSync(base, { recursive: true, force: true });
  }
  rmSync(dirname(dirname(ralph)), { recursive: true, force: true });
});

describe.each(everybody())('an agent in bwrap, started by $name', (who) => {
  describe.skipIf(!bwrapWorks(who))('where bubblewrap works', () => {
    const all = who.name === 'root' ? [...probes, ...rootProbes] : probes;
    let attacked: World;
    let output = '';

    beforeAll(async () => {
      attacked = await makeWorld(who);
      // One after the other in one sandbox; an attempt that fails must not end the others.
      const script = all.map(({ command }) => `( ${command} ) </dev/null`).join('\n');
      output = (await run(who, attacked, inside(attacked, `${script}\necho ran to the end > ran.txt`)))
        .output;
    });

    it('runs what it is told', () => {
      expect(readFileSync(join(attacked.repo, 'ran.txt'), 'utf8'), output).toBe('ran to the end\n');
    });

    it.each(all)('cannot $name', async (probe: Probe) => {
      const control = await makeWorld(who);
      const free = await run(who, control, ['sh', '-c', probe.command]);
      await waitUntil(() => probe.succeeded(control), {
        what: `${probe.name}, without a sandbox: ${free.output}`,
      });
      expect(probe.succeeded(attacked), output).toBe(false);
    });

    it('leaves nothing behind of what protected the project', () => {
      expect(leftovers(attacked)).toEqual([]);
      expect(git(attacked.repo, 'status', '--short').split('\n')).not.toContain('?? .claude/');
    });

    it('reaches a host through the proxy only if it is allowed', async () => {
      const world = await makeWorld(who);
      const script = `node -e 'const p = new URL(process.env.HTTP_PROXY); require("http").get({ host: p.hostname, port: p.port, path: "http://127.0.0.1:" + process.env.PORT + "/" }, (r) => { let t = ""; r.on("data", (c) => t += c).on("end", () => console.log(r.statusCode, t.trim())); })'`;
      const denied = await run(who, world, inside(world, script));
      expect(denied.output).toContain(`403 127.0.0.1:${world.port} is not an allowed host`);
      expect(denied.output).toContain(`sandbox: 127.0.0.1:${world.port} is not an allowed host`);
      const allowed = await run(who, world, inside(world, script, '--allow-host', `127.0.0.1:${world.port}`));
      expect(allowed.output.trim()).toBe('200 REACHED');
    });

    it.each(['setsid', 'env -i setsid', 'setsid setsid nohup'])(
      'cannot outlive its command by %s',
      async (how) => {
        const seconds = `6${process.pid}${Math.floor(Math.random() * 1e6)}`;
        const script = `${how} sleep ${seconds} >/dev/null 2>&1 & sleep 0.2`;
        const world = await makeWorld(who);
        await run(who, world, ['sh', '-c', script]);
        const survivors = await waitUntil(() => sleeping(seconds), {
          what: 'a process that outlives its shell',
        });
        for (const pid of survivors ?? []) process.kill(pid, 'SIGKILL');
        await waitUntil(() => sleeping(seconds) === null);
        await run(who, world, inside(world, script));
        await waitUntil(() => sleeping(seconds) === null, {
          what: 'the end of what was left in the sandbox',
        });
      },
    );

    it('cannot outlive a ralph that was killed', async () => {
      const world = await makeWorld(who);
      const seconds = `7${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const [program = '', ...words] = [
        ...who.through,
        ...inside(world, `env -i setsid sleep ${seconds} & sleep 600`),
      ];
      const child = spawn(program, words, { cwd: world.repo, env: variables(world), stdio: 'ignore' });
      await waitUntil(() => sleeping(seconds), { timeoutMs: 30_000, what: 'the process inside' });
      child.kill('SIGKILL');
      await waitUntil(() => sleeping(seconds) === null, { timeoutMs: 30_000, what: 'its end' });
      // What it had no time to clear up is cleared by the next.
      await run(who, world, inside(world, 'true'));
      expect(leftovers(world)).toEqual([]);
    });

    it('works with git: branches, commits, a stash', async () => {
      const world = await makeWorld(who);
      const script =
        'git switch -qc work && echo a > a.txt && git add -A && git commit -qm two && echo b > a.txt && git stash -q && git stash pop -q && git status --short';
      const { output: said, code } = await run(who, world, inside(world, script));
      expect({ said, code }).toEqual({ said: ' M a.txt\n', code: 0 });
      expect(git(world.repo, 'log', '-1', '--format=%an %s', 'work')).toBe('dev two');
      expect(git(world.repo, 'show', '--stat', '--format=', 'work')).toMatch(
        /^ ?(\.ralph\/settings\.json|a\.txt)/,
      );
    });

    it('can make a sandbox of its own', async () => {
      const world = await makeWorld(who);
      // Root has a /proc with mounts in it, and the kernel does not let it have a second one without.
      const more = who.name === 'root' ? '--unshare-user --unshare-net' : '--proc /proc --unshare-all';
      const nested = `bwrap --ro-bind / / --dev /dev ${more} echo nested`;
      expect((await run(who, world, inside(world, nested))).output).toBe('nested\n');
    });

    it('has no server on its loopback but its own', async () => {
      const world = await makeWorld(who);
      const script = `node -e 'const s = require("http").createServer((q, a) => a.end("own")).listen(0, () => require("http").get({ port: s.address().port, host: "127.0.0.1" }, (r) => r.on("data", (t) => { console.log(String(t)); s.close(); })))'`;
      expect((await run(who, world, inside(world, script))).output.trim()).toBe('own');
    });
  });
});

/** The ids of the processes that sleep that long; null for none. */
function sleeping(seconds: string): number[] | null {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
  const living = found.map(Number).filter(alive);
  return living.length === 0 ? null : living;
}
