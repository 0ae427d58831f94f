import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { runArgs, show, tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { builtProgram, runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';
import { self } from '../support/who.ts';
import { type ContainerDaemon, startDaemon } from './container-daemon.ts';
import { leftovers, probes, rootProbes, type World } from './probes.ts';
import { openWorlds, scriptOf, sleeping, type Worlds } from './world.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 900_000 });

// It installs a system into an image, so it runs on demand: TEST_CONTAINER=1.
describe.skipIf(!process.env.TEST_CONTAINER)('an agent in a container of a real daemon', () => {
  const who = self();
  let daemon: ContainerDaemon;
  let worlds: Worlds;

  beforeAll(async () => {
    daemon = await startDaemon();
    process.env.DOCKER_HOST = daemon.host;
    worlds = await openWorlds({ sandbox: 'container', sandboxImage: daemon.image });
  });

  afterAll(async () => {
    worlds.close();
    await daemon.close();
  });

  it('escapes by none of the probes', async () => {
    const all = [...probes, ...rootProbes].filter(({ name }) => name !== 'read the passwords of the machine');
    const world: World = await worlds.make(who);
    const { output } = await worlds.run(who, world, worlds.inside(world, scriptOf(all)));
    expect(readFileSync(join(world.repo, 'ran.txt'), 'utf8'), output).toBe('ran to the end\n');
    expect(all.filter((probe) => probe.succeeded(world)).map(({ name }) => name)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  it('does a whole loop with an agent that only the image has', async () => {
    const repo = makeRepo({ files: { 'README.md': 'x\n' } });
    const turns = [
      { steps: [work] },
      { steps: [work, { shell: 'git add work.txt && git commit -qm done' }, { text: tag }] },
    ];
    const agent = await installFakeAgent(join(repo.home, 'fake'), { agent: 'claude', script: { turns } });
    const dist = dirname(builtProgram('ralph'));
    const settings = {
      sandbox: 'container',
      sandboxImage: daemon.image,
      sandboxPaths: [dist, `${dirname(agent.scriptPath)}:rw`],
      guardrails: [{ command: 'test -f work.txt' }],
      agent: {
        command: 'claude',
        env: { CLAUDE_FAKE: join(dist, 'fake-agent.cjs'), CLAUDE_SCRIPT: agent.scriptPath },
      },
    };
    repo.write('.ralph/settings.json', JSON.stringify(settings));
    const { code, stdout, stderr } = await runRalph(runArgs(3), { cwd: repo.cwd, env: repo.env });
    expect(code, stdout + stderr).toBe(0);
    expect((await show(repo)).iterations).toBe(2);
    expect(repo.git('log', '-1', '--format=%s')).toBe('done');
    expect(containers()).toBe('');
  });

  it('reaches a host through the proxy only if it is allowed', async () => {
    const world = await worlds.make(who);
    const script = `node -e 'require("http").get("http://127.0.0.1:" + process.env.PORT, (r) => r.on("data", (t) => console.log(String(t)))).on("error", (e) => console.log(e.code))'`;
    const denied = await worlds.run(who, world, worlds.inside(world, script));
    expect(denied.output).toContain('ECONNREFUSED');
    const allow = ['--allow-host', `127.0.0.1:${world.port}`];
    const allowed = await worlds.run(who, world, worlds.inside(world, script, ...allow));
    expect(allowed.output).toContain('REACHED');
  });

  it('cannot outlive a ralph that was killed', async () => {
    const world = await worlds.make(who);
    const seconds = `8${process.pid}${Math.floor(Math.random() * 1e6)}`;
    const child = worlds.start(who, world, worlds.inside(world, `setsid sleep ${seconds} & sleep 600`));
    await waitUntil(() => sleeping(seconds), { timeoutMs: 60_000, what: 'the process inside' });
    child.kill('SIGKILL');
    await waitUntil(() => sleeping(seconds) === null, { timeoutMs: 60_000, what: 'its end' });
    await waitUntil(() => containers() === '', { timeoutMs: 60_000, what: 'the end of the container' });
  });

  const containers = () =>
    execFileSync('docker', ['-H', daemon.host, 'ps', '--all', '--quiet'], { encoding: 'utf8' }).trim();
});
