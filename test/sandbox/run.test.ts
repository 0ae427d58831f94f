import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { JournalEvent } from '../../src/journal/events.ts';
import { type RepoWithAgent, repoWith, runArgs, show, tag, work } from '../support/agent.ts';
import { processesOfRun, waitUntil } from '../support/processes.ts';
import { runRalph, startRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';
import { bwrapWorks } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const sandboxed = (repo: RepoWithAgent) => ({
  ...repo,
  // The scripted agent keeps its place there.
  env: { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) },
});

function journal(repo: RepoWithAgent): JournalEvent[] {
  const [run = ''] = readdirSync(repo.path('.ralph', 'runs'));
  const lines = repo
    .read(join('.ralph', 'runs', run, 'journal.ndjson'))
    .trim()
    .split('\n');
  return lines.map((line): JournalEvent => JSON.parse(line));
}

describe.skipIf(!bwrapWorks())('a run in bwrap', () => {
  it('goes through a false claim and a failing guardrail to acceptance', async () => {
    const repo = await repoWith(
      [{ steps: [{ text: tag }] }, { steps: [work, { text: 'Half.' }] }, { steps: [work, { text: tag }] }],
      { guardrails: [{ command: 'test "$(wc -l < work.txt)" -ge 2' }], verify: ['test -f work.txt'] },
    );
    const { code, stdout, stderr } = await runRalph(runArgs(5, '--sandbox', 'bwrap'), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('claude runs in a sandbox (bwrap)');
    const { iterations, run } = await show(repo);
    expect(iterations).toBe(3);
    expect(processesOfRun(run)).toEqual([]);
    const [call] = await repo.agent.calls();
    expect(call?.argv).toContain('--dangerously-skip-permissions');
    expect(readdirSync(repo.cwd).sort()).toEqual(['.git', '.ralph', 'README.md', 'work.txt']);
  });

  it('tells in the journal which hosts were refused, once each', async () => {
    const ask = `node -e 'const p = new URL(process.env.HTTPS_PROXY); const s = require("net").connect(p.port, p.hostname, () => s.write("CONNECT tracker.example:443 HTTP/1.1\\r\\n\\r\\n")); s.on("data", (t) => { console.log(String(t)); s.end(); })'`;
    const repo = await repoWith([{ steps: [{ shell: `${ask}; ${ask}` }, work, { text: tag }] }]);
    const { code, stdout } = await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo));
    expect(code).toBe(0);
    expect(stdout).toContain('Sandbox: tracker.example:443 is not an allowed host');
    const told = journal(repo).filter(({ type }) => type.startsWith('sandbox.'));
    expect(told).toMatchObject([
      { type: 'sandbox.ready', provider: 'bwrap' },
      { type: 'sandbox.denied', host: 'tracker.example', port: 443, because: 'is not an allowed host' },
    ]);
  });

  it('runs guardrails inside as well, and outside if told so', async () => {
    const guardrails = [{ command: 'echo owned > "$HOME/guardrail.txt"' }];
    const inside = await repoWith([{ steps: [work, { text: tag }] }], { guardrails });
    expect((await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(inside))).code).toBe(0);
    expect(existsSync(join(inside.home, 'guardrail.txt'))).toBe(false);
    const outside = await repoWith([{ steps: [work, { text: tag }] }], { guardrails, sandboxChecks: false });
    expect((await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(outside))).code).toBe(0);
    expect(existsSync(join(outside.home, 'guardrail.txt'))).toBe(true);
  });

  it('runs nothing outside that a repository made inside names as its filter', async () => {
    const evil = [
      'git init -q evil && cd evil && echo a > a.txt && echo "* filter=x" > .gitattributes && git add -A',
      'git -c user.name=x -c user.email=x@example.com commit -qm x && cd .. && git add evil && git commit -qm link',
      'git -C evil config filter.x.clean "touch ~/filtered.txt; cat" && echo b > evil/a.txt',
    ].join(' && ');
    const repo = await repoWith([{ steps: [{ shell: evil }, work, { text: tag }] }]);
    const { code, stdout } = await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo));
    expect(code, stdout).toBe(0);
    expect(existsSync(join(repo.home, 'filtered.txt'))).toBe(false);
    // The same is run by whoever asks git without care.
    repo.git('status', '--short');
    expect(existsSync(join(repo.home, 'filtered.txt'))).toBe(true);
  });

  it('commits inside, with the name of the user', async () => {
    const repo = await repoWith(
      [{ steps: [{ shell: 'echo more >> README.md' }, { text: tag }] }, { steps: [{ text: 'Add more' }] }],
      { scm: { tasks: ['commit'] } },
    );
    const { code, stdout } = await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo));
    expect(code, stdout).toBe(0);
    expect(repo.git('log', '-1', '--format=%an %s')).toBe('Test Add more');
  });

  it('is resumed after ralph was killed, and clears up what that left', async () => {
    const repo = await repoWith([
      { steps: [work, { shell: 'touch waiting; sleep 600' }] },
      { steps: [work, { text: tag }] },
    ]);
    const killed = startRalph(runArgs(3, '--sandbox', 'bwrap'), sandboxed(repo));
    await waitUntil(() => repo.exists('waiting'), { timeoutMs: 60_000 });
    expect(repo.exists('.claude')).toBe(true);
    killed.child.kill('SIGKILL');
    await killed.done;
    const resumed = await runRalph(['run', '--resume'], sandboxed(repo));
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
    expect(resumed.stdout).toContain('claude runs in a sandbox (bwrap)');
    expect(repo.exists('.claude')).toBe(false);
    expect(processesOfRun((await show(repo)).run)).toEqual([]);
  });

  it('is the choice of auto where sbx is missing, and of the settings', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }], { sandbox: 'auto' });
    const { code, stdout } = await runRalph(runArgs(1), sandboxed(repo));
    expect({ code, bwrap: stdout.includes('claude runs in a sandbox (bwrap)') }).toEqual({
      code: 0,
      bwrap: true,
    });
  });

  it('has one sandbox for a project at a time', async () => {
    const repo = await repoWith([{ steps: [{ shell: 'touch waiting; sleep 600' }] }]);
    const running = startRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo));
    await waitUntil(() => repo.exists('waiting'), { timeoutMs: 60_000 });
    const words = ['sandbox', 'exec', '--provider', 'bwrap', '--', 'true'];
    const { code, stderr } = await runRalph(words, sandboxed(repo));
    expect(code).toBe(5);
    expect(stderr).toContain('is open already');
    expect(repo.exists('.claude')).toBe(true);
    running.child.kill('SIGKILL');
    await running.done;
  });

  it('has the guard inside where it shall always be, and not otherwise', async () => {
    const look = { shell: 'echo "$RALPH_GUARD" > guard.txt' };
    const run = async (settings: object) => {
      const repo = await repoWith([{ steps: [look, work, { text: tag }] }], settings);
      const { code, stdout } = await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo));
      expect(code, stdout).toBe(0);
      const [call] = await repo.agent.calls();
      const hook = /'([^']*guard\.cjs)'/.exec(call?.argv.join(' ') ?? '')?.[1];
      return { repo, hook, guard: repo.read('guard.txt').trim() };
    };
    const { repo, hook = '', guard } = await run({ guard: 'always' });
    expect(guard).toBe('always');
    const words = ['sandbox', 'exec', '--provider', 'bwrap', '--', 'test', '-f', hook];
    expect((await runRalph(words, sandboxed(repo))).code).toBe(0);
    expect(await run({ guard: 'auto' })).toMatchObject({ guard: 'off', hook: undefined });
  });

  it('runs the demo', async () => {
    const repo = makeRepo();
    const { code, stdout } = await runRalph(['demo', '--sandbox'], repo);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('claude runs in a sandbox (bwrap)');
  });

  it('gives a login back that was renewed inside for the same account, and nothing that was made up', async () => {
    const login = { claudeAiOauth: { accessToken: 'old', refreshToken: 'old', expiresAt: 1, email: 'me' } };
    const renewed = { claudeAiOauth: { ...login.claudeAiOauth, accessToken: 'new', expiresAt: 2 } };
    const file = '~/.claude/.credentials.json';
    const turn = (text: string) => [
      { steps: [{ shell: `printf %s '${text}' > ${file}` }, work, { text: tag }] },
    ];
    const after = async (inside: object) => {
      const repo = await repoWith(turn(JSON.stringify(inside)));
      mkdirSync(join(repo.home, '.claude'));
      const outside = join(repo.home, '.claude', '.credentials.json');
      writeFileSync(outside, JSON.stringify(login));
      expect((await runRalph(runArgs(1, '--sandbox', 'bwrap'), sandboxed(repo))).code).toBe(0);
      return JSON.parse(repo.read(join('..', 'home', '.claude', '.credentials.json')));
    };
    expect(await after(renewed)).toEqual(renewed);
    expect(await after({ ...renewed, apiKeyHelper: 'evil' })).toEqual(login);
  });
});

describe('a sandbox that cannot be had', () => {
  const poor = (repo: RepoWithAgent) => ({ cwd: repo.cwd, env: { ...repo.env, PATH: repo.bin } });

  it.each([
    [['--sandbox'], {}],
    [['--sandbox', 'container'], {}],
    [[], { sandbox: 'bwrap' }],
  ])('ends the run before it begins: %j %j', async (words, settings) => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }], settings);
    const { code, stderr } = await runRalph(runArgs(1, ...words), poor(repo));
    expect(code).toBe(2);
    expect(stderr).toMatch(/there is no sandbox on this machine|the sandbox \w+ cannot be used/);
    expect(stderr).toMatch(/try: .*--no-sandbox/);
    expect(await repo.agent.calls()).toEqual([]);
    expect(repo.exists('.ralph/runs')).toBe(false);
  });

  it.each([
    [['demo', '--sandbox'], 'apt-get install bubblewrap'],
    [['sandbox', 'shell', '--provider', 'container'], 'install docker or podman'],
    [['sandbox', 'shell', '--provider', 'docker-sandbox'], 'install Docker Desktop'],
  ])('is told at once, with what helps there: %j', async (words, said) => {
    const { code, stdout, stderr } = await runRalph(words, poor(await repoWith([{ steps: [work] }])));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`try: ${said}`);
    expect(stderr).not.toContain('--no-sandbox');
  });

  it('is told by ralph sandbox status, with what helps', async () => {
    const { code, stdout } = await runRalph(['sandbox', 'status'], poor(await repoWith([{ steps: [work] }])));
    expect(code).toBe(0);
    expect(stdout).toMatch(/bwrap +no: bubblewrap is not installed\n +try: apt-get install bubblewrap\n/);
  });

  it('is one that the kernel forbids, which no installation helps', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    const refusing = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n';
    writeFileSync(join(repo.bin, 'bwrap'), refusing, { mode: 0o755 });
    const { code, stderr } = await runRalph(runArgs(1, '--sandbox', 'bwrap'), poor(repo));
    expect(code).toBe(2);
    expect(stderr).toMatch(/setting up uid map.*\n?.*try: .*(sysctl|allow namespaces)/);
    expect(stderr).not.toContain('apt-get');
  });

  it('is done without where that is said, whatever the settings say', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }], { sandbox: 'bwrap' });
    const { code, stdout } = await runRalph(runArgs(1, '--no-sandbox'), repo);
    expect(code).toBe(0);
    expect(stdout).toContain('claude runs without a sandbox (as asked)');
  });

  it('is nothing that is kept quiet where nobody said anything', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    const { stdout } = await runRalph(runArgs(1), repo);
    expect(stdout).toContain('claude runs without a sandbox (--sandbox for one)');
    expect((await repo.agent.calls())[0]?.argv).not.toContain('--dangerously-skip-permissions');
  });
});

describe.skipIf(!bwrapWorks())('what bwrap cannot do', () => {
  const inside = ['sandbox', 'exec', '--provider', 'bwrap', '--', 'true'];

  it.each([
    ['--sandbox=docker', 'has to be one of auto, sbx, docker-sandbox, bwrap, container, none'],
    ['--allow-host=https://example.com', '"https://example.com" is no host'],
  ])('is refused for %s in one sentence', async (word, said) => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }], { sandbox: 'bwrap' });
    const { code, stderr } = await runRalph(runArgs(1, word), repo);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(said) });
    expect(await repo.agent.calls()).toEqual([]);
  });

  it('is to run a program that is not there, which it says', async () => {
    const words = ['sandbox', 'exec', '--provider', 'bwrap', '--', 'no-such-program'];
    const { code, stderr } = await runRalph(words, makeRepo());
    expect({ code, stderr }).toEqual({
      code: 127,
      stderr: expect.stringContaining('there is no no-such-program in the sandbox'),
    });
  });

  it('is to protect a project that is the home', async () => {
    const repo = makeRepo();
    const { code, stderr } = await runRalph(inside, { ...repo, env: { ...repo.env, HOME: repo.cwd } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('cannot be the project of a sandbox'),
    });
  });

  it('is to protect links where agents look for their settings', async () => {
    const repo = makeRepo({ files: { 'shared/settings.json': '{}' } });
    symlinkSync('shared', repo.path('.claude'));
    const { code, stderr } = await runRalph(inside, repo);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('.claude is a symbolic link'),
    });
  });
});
