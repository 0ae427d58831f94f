import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { everybody } from '../support/who.ts';
import { kernelProbes, leftovers, type Probe, probes, rootProbes, type World } from './probes.ts';
import { bwrapWorks, git } from './support.ts';
import { openWorlds, scriptOf, sleeping, type Worlds } from './world.ts';

// A loaded machine takes its time to start a hundred processes.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let worlds: Worlds;

beforeAll(async () => {
  worlds = await openWorlds({ sandbox: 'bwrap' });
});

afterAll(() => worlds.close());

describe.each(everybody())('an agent in bwrap, started by $name', (who) => {
  describe.skipIf(!bwrapWorks(who))('where bubblewrap works', () => {
    const all = [...probes, ...kernelProbes, ...(who.name === 'root' ? rootProbes : [])];
    let attacked: World;
    let output = '';

    beforeAll(async () => {
      attacked = await worlds.make(who);
      output = (await worlds.run(who, attacked, worlds.inside(attacked, scriptOf(all)))).output;
    });

    it('runs what it is told', () => {
      expect(readFileSync(join(attacked.repo, 'ran.txt'), 'utf8'), output).toBe('ran to the end\n');
    });

    it.each(all)('cannot $name', async (probe: Probe) => {
      const control = await worlds.make(who);
      const free = await worlds.run(who, control, ['sh', '-c', probe.command]);
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
      const world = await worlds.make(who);
      const script = `node -e 'const p = new URL(process.env.HTTP_PROXY); require("http").get({ host: p.hostname, port: p.port, path: "http://127.0.0.1:" + process.env.PORT + "/" }, (r) => { let t = ""; r.on("data", (c) => t += c).on("end", () => console.log(r.statusCode, t.trim())); })'`;
      const denied = await worlds.run(who, world, worlds.inside(world, script));
      expect(denied.output).toContain(`403 127.0.0.1:${world.port} is not an allowed host`);
      expect(denied.output).toContain(`sandbox: 127.0.0.1:${world.port} is not an allowed host`);
      const allowed = await worlds.run(
        who,
        world,
        worlds.inside(world, script, '--allow-host', `127.0.0.1:${world.port}`),
      );
      expect(allowed.output.trim()).toBe('200 REACHED');
    });

    it.each(['setsid', 'env -i setsid', 'setsid setsid nohup'])(
      'cannot outlive its command by %s',
      async (how) => {
        const seconds = `6${process.pid}${Math.floor(Math.random() * 1e6)}`;
        const script = `${how} sleep ${seconds} >/dev/null 2>&1 & sleep 0.2`;
        const world = await worlds.make(who);
        await worlds.run(who, world, ['sh', '-c', script]);
        const survivors = await waitUntil(() => sleeping(seconds), {
          what: 'a process that outlives its shell',
        });
        for (const pid of survivors ?? []) process.kill(pid, 'SIGKILL');
        await waitUntil(() => sleeping(seconds) === null);
        await worlds.run(who, world, worlds.inside(world, script));
        await waitUntil(() => sleeping(seconds) === null, {
          what: 'the end of what was left in the sandbox',
        });
      },
    );

    it('cannot outlive a ralph that was killed', async () => {
      const world = await worlds.make(who);
      const seconds = `7${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const script = `env -i setsid sleep ${seconds} & sleep 600`;
      const child = worlds.start(who, world, worlds.inside(world, script));
      await waitUntil(() => sleeping(seconds), { timeoutMs: 30_000, what: 'the process inside' });
      child.kill('SIGKILL');
      await waitUntil(() => sleeping(seconds) === null, { timeoutMs: 30_000, what: 'its end' });
      // What it had no time to clear up is cleared by whoever looks next.
      expect(leftovers(world)).toContain('.claude');
      const [node = '', ralph = ''] = worlds.inside(world, 'true');
      await worlds.run(who, world, [node, ralph, 'sandbox', 'status']);
      expect(leftovers(world)).toEqual([]);
      expect(readdirSync(join(world.base, 'tmp'))).toEqual([]);
    });

    it('holds nobody up by closing the folder of its project', async () => {
      const world = await worlds.make(who);
      const words = worlds.inside(world, 'chmod 000 .');
      expect(await worlds.run(who, world, words)).toMatchObject({ code: 0, output: '' });
      // What could not be cleared up then is cleared up later.
      chmodSync(world.repo, 0o755);
      const [node = '', ralph = ''] = words;
      await worlds.run(who, world, [node, ralph, 'sandbox', 'status']);
      expect(leftovers(world)).toEqual([]);
    });

    it('works with git: branches, commits, a stash', async () => {
      const world = await worlds.make(who);
      const script =
        'git switch -qc work && echo a > a.txt && git add -A && git commit -qm two && echo b > a.txt && git stash -q && git stash pop -q && git status --short';
      const { output: said, code } = await worlds.run(who, world, worlds.inside(world, script));
      expect({ said, code }).toEqual({ said: ' M a.txt\n', code: 0 });
      expect(git(world.repo, 'log', '-1', '--format=%an %s', 'work')).toBe('dev two');
      expect(git(world.repo, 'show', '--stat', '--format=', 'work')).toMatch(
        /^ ?(\.ralph\/settings\.json|a\.txt)/,
      );
    });

    it('commits in a linked worktree, and leaves the rest of the repository alone', async () => {
      const world = await worlds.make(who);
      const linked = { ...world, repo: join(world.base, 'linked') };
      await worlds.run(who, world, ['git', 'worktree', 'add', '-q', '-b', 'side', linked.repo]);
      await worlds.run(who, world, [
        'git',
        'worktree',
        'add',
        '-q',
        '-b',
        'other',
        join(world.base, 'other'),
      ]);
      await worlds.run(who, linked, ['mkdir', '.ralph']);
      const main = join(world.repo, '.git');
      const script = [
        'echo a > a.txt && git add a.txt && git commit -qm side',
        `echo owned > "${main}/hooks/pre-commit"`,
        `echo owned >> "${main}/config"`,
        `echo owned > "${main}/HEAD"`,
        `echo owned > "${main}/worktrees/other/HEAD"`,
        `echo owned > "${main}/worktrees/linked/commondir"`,
        'rm -f .git && mkdir .git && echo owned > .git/HEAD',
        `echo owned > "${world.repo}/README.md"`,
        'git log -1 --format=%s',
      ].join('; ');
      const { output: said } = await worlds.run(who, linked, worlds.inside(linked, script));
      expect(said.trim().split('\n').at(-1)).toBe('side');
      expect(git(linked.repo, 'log', '-1', '--format=%an %s')).toBe('dev side');
      const files = ['config', 'HEAD', 'worktrees/other/HEAD', 'worktrees/linked/commondir'];
      const owned = files.filter((name) => readFileSync(join(main, name), 'utf8').includes('owned'));
      expect(owned).toEqual([]);
      expect(existsSync(join(main, 'hooks', 'pre-commit'))).toBe(false);
      expect(readFileSync(join(world.repo, 'README.md'), 'utf8')).toBe('x\n');
      expect(git(world.repo, 'worktree', 'list').split('\n')).toHaveLength(3);
    });

    it('commits in a submodule, and changes nothing of what git obeys there, in a linked worktree, too', async () => {
      const world = await worlds.make(who);
      const linked = { ...world, repo: join(world.base, 'linked') };
      const add = ['git', '-c', 'protocol.file.allow=always', 'submodule', '-q'];
      await worlds.run(who, world, ['git', 'clone', '-q', '--bare', '.', join(world.base, 'lib.git')]);
      await worlds.run(who, world, [...add, 'add', join(world.base, 'lib.git'), 'lib']);
      await worlds.run(who, world, ['git', 'commit', '-qam', 'lib']);
      await worlds.run(who, world, ['git', 'worktree', 'add', '-q', '-b', 'side', linked.repo]);
      await worlds.run(who, linked, [...add, 'update', '--init']);
      await worlds.run(who, linked, ['mkdir', '.ralph']);
      for (const each of [world, linked]) {
        const folder = git(join(each.repo, 'lib'), 'rev-parse', '--absolute-git-dir');
        const script = `cd lib && git -c user.name=dev -c user.email=d@example.com commit -q --allow-empty -m inside; echo owned > "${folder}/config"; echo owned > "${folder}/hooks/pre-commit"`;
        const { output: said } = await worlds.run(who, each, worlds.inside(each, script));
        expect(git(join(each.repo, 'lib'), 'log', '-1', '--format=%s'), said).toBe('inside');
        expect(readFileSync(join(folder, 'config'), 'utf8')).not.toContain('owned');
        expect(existsSync(join(folder, 'hooks', 'pre-commit'))).toBe(false);
      }
    });

    it('is in one worktree, while others are in other ones of the same repository', async () => {
      const world = await worlds.make(who);
      const names = ['one', 'two', 'three', 'four'];
      const linked = names.map((name) => ({ ...world, repo: join(world.base, name) }));
      for (const { repo } of linked) {
        await worlds.run(who, world, ['git', 'worktree', 'add', '-q', repo]);
        await worlds.run(who, { ...world, repo }, ['mkdir', '.ralph']);
      }
      const commondir = join(world.repo, '.git', 'commondir');
      const script = `echo owned > '${commondir}'; git status --short`;
      const rounds = linked.map(async (each) => {
        const ends: unknown[] = [];
        for (let round = 0; round < 3; round++) {
          const { code, output: said } = await worlds.run(who, each, worlds.inside(each, script));
          ends.push(code === 0 && /Read-only/.test(said) ? 'kept' : said);
        }
        return ends;
      });
      expect((await Promise.all(rounds)).flat()).toEqual(Array(12).fill('kept'));
      expect(existsSync(commondir)).toBe(false);
    });

    it.each([
      ['has no HEAD any more', 'rm .git/HEAD'],
      ['has a HEAD that is none', 'echo nothing > .git/HEAD'],
      ['is none', 'true'],
    ])('gets nothing of the repository around its own, once that %s', async (_what, command) => {
      const world = await worlds.make(who);
      const own = { ...world, repo: join(world.repo, 'own') };
      await worlds.run(who, world, ['mkdir', '-p', join(own.repo, '.ralph')]);
      if (command !== 'true') await worlds.run(who, own, ['git', 'init', '-q']);
      // As with a home that is under git: it is not the project of what is below it.
      else await worlds.run(who, world, ['sh', '-c', 'mv .git README.md "$HOME"; mv own "$HOME/own"']);
      const below = command === 'true' ? { ...world, repo: join(world.home, 'own') } : own;
      await worlds.run(who, below, worlds.inside(below, command));
      const script =
        'for path in ../README.md ../.git/refs/heads/owned .git/config; do echo owned > $path; done; ls ../.git/refs/heads > heads.txt';
      const { output: said } = await worlds.run(who, below, worlds.inside(below, script));
      const around = dirname(below.repo);
      expect(readFileSync(join(around, 'README.md'), 'utf8'), said).toBe('x\n');
      expect(existsSync(join(around, '.git', 'refs', 'heads', 'owned')), said).toBe(false);
      if (command !== 'true')
        expect(readFileSync(join(own.repo, '.git', 'config'), 'utf8')).not.toContain('owned');
      else expect(readFileSync(join(below.repo, 'heads.txt'), 'utf8')).toBe('');
    });

    it('cannot make a repository at the top of a folder without one, nor where the loop is', async () => {
      const world = await worlds.make(who);
      const bare = { ...world, repo: join(world.base, 'bare') };
      const below = { ...world, repo: join(world.repo, 'below') };
      for (const each of [bare, below]) {
        await worlds.run(who, world, ['mkdir', '-p', join(each.repo, '.ralph')]);
        const { output: said } = await worlds.run(who, each, worlds.inside(each, 'git init; echo a > a.txt'));
        expect(existsSync(join(each.repo, 'a.txt')), said).toBe(true);
        expect(existsSync(join(each.repo, '.git')), said).toBe(false);
      }
      const status = await worlds.run(
        who,
        below,
        worlds.inside(below, 'git add a.txt && git status --short'),
      );
      expect(status.output).toContain('A  a.txt');
    });

    it('cannot lead what is written for it out by a link in the folder of git', async () => {
      const world = await worlds.make(who);
      await worlds.run(who, world, ['sh', '-c', 'rm -r .git/info && ln -s "$OUTSIDE" .git/info']);
      const words = worlds.inside(world, 'true', '--agent', 'opencode');
      const { code, output: said } = await worlds.run(who, world, words);
      expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining('info is a symbolic link') });
      expect(existsSync(join(world.outside, 'exclude'))).toBe(false);
    });

    it('can make a sandbox of its own', async () => {
      const world = await worlds.make(who);
      // Root has a /proc with mounts in it, and the kernel does not let it have a second one without.
      const more = who.name === 'root' ? '--unshare-user --unshare-net' : '--proc /proc --unshare-all';
      const nested = `bwrap --ro-bind / / --dev /dev ${more} echo nested`;
      expect((await worlds.run(who, world, worlds.inside(world, nested))).output).toBe('nested\n');
    });

    it('has no server on its loopback but its own', async () => {
      const world = await worlds.make(who);
      const script = `node -e 'const s = require("http").createServer((q, a) => a.end("own")).listen(0, () => require("http").get({ port: s.address().port, host: "127.0.0.1" }, (r) => r.on("data", (t) => { console.log(String(t)); s.close(); })))'`;
      expect((await worlds.run(who, world, worlds.inside(world, script))).output.trim()).toBe('own');
    });
  });
});
