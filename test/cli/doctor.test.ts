import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { runArgs, type Turns, tag, work } from '../support/agent.ts';
import { alive, waitUntil } from '../support/processes.ts';
import { runRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';

type Check = {
  readonly id: string;
  readonly agent?: string;
  readonly status: string;
  readonly evidence: string;
  readonly remedy?: string;
};

const claude = { agent: { command: 'claude' } };
const loggedIn = `echo '{ "loggedIn": true }'`;

/** Puts a program into the PATH of the repository. */
function install(repo: Repo, name: string, body: string): void {
  writeFileSync(join(repo.bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(repo.bin, name), 0o755);
}

/** An agent that tells this version, and runs `login` for any other words. */
function installAgent(repo: Repo, name: string, version: string, login: string): void {
  install(repo, name, `case "$1" in --version) echo '${version}' ;; *) ${login} ;; esac`);
}

/** The PATH has these programs of the machine and what the test installs, so that no agent is found by chance. */
function pathWith(repo: Repo, ...programs: string[]): Record<string, string> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const program of programs) {
    const folder = folders.find((candidate) => existsSync(join(candidate, program)));
    if (folder !== undefined) symlinkSync(join(folder, program), join(repo.bin, program));
  }
  return { ...repo.env, PATH: repo.bin };
}

/** Keys of the person who runs the tests say nothing about the agents here. */
const noKeys = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^CODEX_|_API_KEY$/.test(name))
    .map((name) => [name, undefined]),
);

async function diagnose(
  repo: Repo,
  options: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<{
  code: number | null;
  ok: boolean;
  checks: readonly Check[];
  of(id: string): Check | undefined;
}> {
  const env = { ...noKeys, ...repo.env, ...options.env };
  const { code, stdout } = await runRalph(['doctor', '--json', ...(options.args ?? [])], { ...repo, env });
  const { v, ok, checks }: { v: number; ok: boolean; checks: Check[] } = JSON.parse(stdout);
  expect(v).toBe(1);
  return { code, ok, checks, of: (id) => checks.find((check) => check.id === id) };
}

describe('ralph doctor', () => {
  it('finds nothing wrong where nothing is, and leaves no trace in the working copy', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325 (Claude Code)', loggedIn);
    const { code, ok, checks, of } = await diagnose(repo);
    expect(checks.filter(({ status }) => status === 'error')).toEqual([]);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(of('settings')).toMatchObject({ status: 'ok', evidence: '.ralph/settings.json' });
    expect(of('git.working-copy')).toMatchObject({ status: 'ok', evidence: repo.cwd });
    expect(of('agent.found')).toMatchObject({ status: 'ok', evidence: join(repo.bin, 'claude') });
    expect(of('agent.runs')).toMatchObject({
      status: 'ok',
      evidence: 'claude --version says: 2.1.325 (Claude Code)',
    });
    expect(of('agent.version')).toMatchObject({ status: 'ok' });
    expect(of('agent.login')).toMatchObject({ agent: 'claude', status: 'ok' });
    expect(of('last-run')).toMatchObject({ status: 'ok', evidence: 'no run yet' });
    expect(readdirSync(repo.path('.ralph'))).toEqual(['settings.json']);
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it('prints aligned lines, what to do, and a summary', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', `echo '{"loggedIn": false}'; exit 1`);
    const env = { ...repo.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TERM: 'xterm' };
    const { code, stdout } = await runRalph(['doctor'], { ...repo, env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✅ node {15}Node\.js \d/);
    expect(stdout).toContain('❌ agent.login        claude auth status says: "loggedIn": false\n');
    expect(stdout).toContain(`\n${' '.repeat(22)}try: claude auth login\n`);
    expect(stdout).toMatch(/\n\n1 error, \d warnings? in \d+ checks\n$/);
  });

  it('goes without emoji where the terminal has none', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { stdout } = await runRalph(['doctor'], { ...repo, env: { ...repo.env, TERM: 'dumb' } });
    expect(stdout).toMatch(/^\[OK\] {3}node {15}Node\.js \d/);
  });

  it('shows no secret and no control sequence of what an agent prints', async () => {
    const repo = makeRepo({
      settings: { agent: { command: 'claude', env: { SOME_TOKEN: 'tiptop-secret-1' } } },
    });
    install(repo, 'claude', `printf '2.1.325 \\033[2J %s\\n' "$SOME_TOKEN"`);
    const { of } = await diagnose(repo);
    expect(of('agent.runs')?.evidence).toBe('claude --version says: 2.1.325 [redacted:SOME_TOKEN]');
  });
});

describe('the agent', () => {
  it('is missing', async () => {
    const repo = makeRepo({ settings: claude });
    const { code, of } = await diagnose(repo, { env: pathWith(repo, 'git', 'sh') });
    expect(code).toBe(1);
    expect(of('agent.found')).toMatchObject({
      status: 'error',
      remedy: 'npm install -g @anthropic-ai/claude-code',
    });
  });

  it('is there, but does not run', async () => {
    const repo = makeRepo({ settings: claude });
    install(repo, 'claude', 'echo "native binary not installed" >&2; exit 1');
    const { code, of } = await diagnose(repo);
    expect(code).toBe(1);
    expect(of('agent.found')?.status).toBe('ok');
    expect(of('agent.runs')).toMatchObject({
      status: 'error',
      evidence: 'claude --version fails: exit code 1, native binary not installed',
    });
  });

  it('is newer than what was tested', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '99.0.0', loggedIn);
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('agent.version')).toMatchObject({
      status: 'warning',
      evidence: expect.stringMatching(/^99\.0\.0 is newer than what was tested \(/),
    });
    expect(of('agent.login')?.status).toBe('ok');
  });

  it('is so old that asking for its login could be a task for it', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '1.0.0', 'touch started');
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('agent.version')?.status).toBe('warning');
    expect(of('agent.login')?.status).toBe('skipped');
    expect(repo.exists('started')).toBe(false);
  });

  it("is the user's own, and is never started", async () => {
    const repo = makeRepo({ settings: { agent: { command: 'my-agent' } } });
    install(repo, 'my-agent', 'touch started');
    const { code, checks } = await diagnose(repo);
    expect(code).toBe(0);
    expect(checks.filter(({ agent }) => agent !== undefined).map(({ id }) => id)).toEqual([
      'agent.found',
      'agent.permissions',
    ]);
    expect(repo.exists('started')).toBe(false);
  });

  it('speaks the Agent Client Protocol: a session and one turn, in which it may do nothing', async () => {
    const repo = makeRepo({ settings: { agent: { command: 'goose', protocol: 'acp' } } });
    const steps = [{ shell: 'echo ran > ran.txt' }, { text: 'ready' }];
    await installFakeAgent(repo.bin, { agent: 'custom', name: 'goose', script: { turns: [{ steps }] } });
    const good = await diagnose(repo);
    expect(good.of('agent.acp')).toMatchObject({
      status: 'ok',
      evidence: expect.stringContaining('fake-agent'),
    });
    expect(repo.exists('ran.txt')).toBe(false);
    const other = await diagnose(repo, { env: { RALPH_AGENT_COMMAND: 'true' } });
    expect(other.of('agent.acp')).toMatchObject({
      status: 'error',
      evidence: expect.stringContaining('no turn'),
    });
  });

  it('is another one with --agent', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'codex', 'codex-cli 0.166.0', 'echo "Logged in using ChatGPT" >&2');
    const { code, of } = await diagnose(repo, { args: ['--agent', 'codex'] });
    expect(code).toBe(0);
    expect(of('agent.login')).toMatchObject({
      agent: 'codex',
      evidence: 'codex login status says: Logged in using ChatGPT',
    });
  });
});

describe('the login', () => {
  const none = {};
  const notLoggedIn = 'echo "Not logged in" >&2; exit 1';
  const noMethod = 'echo "⚠️  No authentication method configured."';

  it.each([
    ['claude', '2.1.325', none, `echo '{"loggedIn": false}'; exit 1`, 'error'],
    ['claude', '2.1.325', none, 'echo "what?"; exit 1', 'skipped'],
    ['codex', '0.166.0', none, notLoggedIn, 'error'],
    ['codex', '0.166.0', { CODEX_API_KEY: 'x' }, notLoggedIn, 'skipped'],
    ['codex', '0.166.0', none, 'echo "API key configured - sk-***" >&2', 'ok'],
    ['opencode', '1.18.33', none, 'echo "└  0 credentials"', 'skipped'],
    ['opencode', '1.18.33', none, 'echo "└  2 credentials"', 'ok'],
    ['opencode', '1.18.33', none, 'echo "└  1 environment variable"', 'ok'],
    ['qwen', '0.15.10', none, noMethod, 'error'],
    ['qwen', '0.15.10', { OPENAI_API_KEY: 'x' }, noMethod, 'skipped'],
    ['qwen', '0.15.10', none, 'echo "✓ Authentication Method: OpenAI-compatible Provider"', 'ok'],
    ['pi', '0.73.1', none, 'echo "No models available. Use /login" >&2', 'error'],
    ['pi', '0.73.1', none, 'printf "provider   model\\nanthropic  x\\n" >&2', 'ok'],
    ['gemini', '0.61.0', none, 'touch started', 'skipped'],
    ['amp', '0.0.1769314944-g5070a1', none, 'touch started', 'skipped'],
  ])('of %s %s with %j that answers by %s is %s', async (name, version, variables, login, status) => {
    const repo = makeRepo();
    installAgent(repo, name, version, login);
    const env = { ...pathWith(repo, 'touch'), ...variables };
    const { of } = await diagnose(repo, { args: ['--agent', name], env });
    expect(of('agent.login')).toMatchObject({ agent: name, status });
    expect(repo.exists('started')).toBe(false);
  });

  it('of codex does not matter where another provider is configured', async () => {
    const repo = makeRepo();
    installAgent(repo, 'codex', '0.166.0', 'echo "Not logged in" >&2; exit 1');
    const config = 'model = "x"\nmodel_provider = "local"\n';
    repo.write('.codex/config.toml', config);
    const { of } = await diagnose(repo, { args: ['--agent', 'codex'] });
    expect(of('agent.login')).toMatchObject({
      status: 'skipped',
      evidence: expect.stringMatching(/but config\.toml chooses the provider local$/),
    });
  });

  it('is asked for without an end, and a signal ends it with all that it started', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', 'sleep 600 & echo $! > pid; wait');
    const { child, done } = startRalph(['doctor'], repo);
    const pid = await waitUntil(() => repo.exists('pid') && Number(repo.read('pid')));
    child.kill('SIGINT');
    expect((await done).code).toBe(130);
    expect(alive(Number(pid))).toBe(false);
  }, 12_000); // Without a signal it would be ended after 15 seconds.
});

describe('without an agent in the settings', () => {
  it('one that can be used is enough', async () => {
    const repo = makeRepo();
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    installAgent(repo, 'codex', '0.166.0', 'echo "Not logged in"; exit 1');
    const { code, checks, of } = await diagnose(repo, { env: pathWith(repo) });
    expect(code).toBe(0);
    expect(of('agent.set')).toMatchObject({
      status: 'warning',
      evidence: 'no agent is set; you can use claude',
    });
    const logins = checks.filter(({ id }) => id === 'agent.login');
    expect(logins.map(({ agent, status }) => [agent, status])).toEqual([
      ['claude', 'ok'],
      ['codex', 'warning'],
    ]);
  });

  it('none that can be used is an error', async () => {
    const repo = makeRepo();
    installAgent(repo, 'codex', '0.166.0', 'echo "Not logged in"; exit 1');
    const { code, of } = await diagnose(repo, { env: pathWith(repo) });
    expect(code).toBe(1);
    expect(of('agent.set')?.status).toBe('error');
  });

  it('none at all is an error', async () => {
    const repo = makeRepo();
    const { code, of } = await diagnose(repo, { env: pathWith(repo) });
    expect(code).toBe(1);
    expect(of('agent.set')?.evidence).toContain('none of the known agents is on the PATH: claude, codex');
  });
});

describe('the settings', () => {
  it('are wrong, and the rest is looked at all the same', async () => {
    const repo = makeRepo({ settings: { maxIterations: 3 } });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo, { args: ['--agent', 'claude'] });
    expect(code).toBe(1);
    expect(of('settings')).toMatchObject({
      status: 'error',
      evidence:
        '.ralph/settings.json: there is no setting "maxIterations"; did you mean "maximumIterations"?',
    });
    expect(of('agent.login')?.status).toBe('ok');
  });

  it('have a variable beside them that is nearly one', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { of } = await diagnose(repo, { env: { RALPH_MAX_COSTS: '3' } });
    expect(of('settings')).toMatchObject({
      status: 'warning',
      evidence: expect.stringContaining('RALPH_MAX_COST?'),
    });
  });

  it.each([
    ['(a+)+$', 'ok'],
    ['(?=x)', 'error'],
  ])('have the done pattern %s, which is %s', async (donePattern, status) => {
    const repo = makeRepo({ settings: { ...claude, donePattern } });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo);
    expect(of('done-pattern')?.status).toBe(status);
    expect(code).toBe(status === 'ok' ? 0 : 1);
  });

  it('protect files that are not there', async () => {
    const protectedPaths = ['test/**', 'spec/**', '*.golden'];
    const repo = makeRepo({ files: { 'test/a.test.js': '' }, settings: { ...claude, protectedPaths } });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('protected-paths')).toMatchObject({
      status: 'warning',
      evidence: 'no file matches spec/**, *.golden',
    });
  });

  it('name checks whose programs are not there', async () => {
    const guardrails = [
      'no-such-linter --all',
      'cd . && git status',
      'CI=1 no-such-builder',
      '! git grep x',
      '(git status)',
      './check.sh',
      'if true; then git status; fi',
    ].map((command) => ({ command }));
    const repo = makeRepo({
      files: { 'check.sh': '#!/bin/sh\n' },
      settings: { ...claude, guardrails, verify: ['no-such-test', 'test -f x'] },
    });
    chmodSync(repo.path('check.sh'), 0o755);
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('guardrails')).toMatchObject({
      status: 'warning',
      evidence: 'not on the PATH: no-such-linter, no-such-builder, no-such-test',
    });
  });

  it('let the loop commit, and git does not know who does', async () => {
    const repo = makeRepo({ settings: { ...claude, scm: { tasks: ['commit', 'push'] } } });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    expect((await diagnose(repo)).of('git.identity')).toMatchObject({
      status: 'ok',
      evidence: 'Test <test@example.com>',
    });
    repo.git('config', '--unset', 'user.email');
    repo.git('config', 'user.useConfigOnly', 'true');
    const { code, of } = await diagnose(repo);
    expect(code).toBe(1);
    expect(of('git.identity')?.status).toBe('error');
  });
});

describe('the machine', () => {
  it('has no git, no tmux and no sandbox', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo, { env: pathWith(repo) });
    expect(code).toBe(0);
    expect(of('git')).toMatchObject({ status: 'warning', evidence: 'git does not run: not on the PATH' });
    expect(of('tmux')).toMatchObject({ status: 'warning' });
    expect(of('sandbox')).toMatchObject({
      status: 'warning',
      evidence: expect.stringMatching(
        /^the agent runs without one, and none works .*bubblewrap is not installed/,
      ),
    });
  });

  it('has a sandbox that is installed but does not work', async () => {
    const repo = makeRepo({ settings: claude });
    install(repo, 'bwrap', 'echo "bwrap: No permissions to create new namespace" >&2; exit 1');
    const { of } = await diagnose(repo, { env: pathWith(repo) });
    expect(of('sandbox')).toMatchObject({
      status: 'warning',
      evidence: expect.stringContaining(
        'cannot make a sandbox here: bwrap: No permissions to create new namespace',
      ),
    });
  });

  it('has a docker that answers', async () => {
    const repo = makeRepo({ settings: claude });
    install(repo, 'docker', 'case "$1" in version) echo 28.2.2;; image) ;; *) exit 1;; esac');
    // By a variable: without git on this PATH the file of the project counts as a stranger's.
    const { of } = await diagnose(repo, { env: { ...pathWith(repo), RALPH_SANDBOX_IMAGE: 'mine' } });
    expect(of('sandbox')).toMatchObject({
      status: 'ok',
      evidence: expect.stringContaining('with --sandbox there is container (docker 28.2.2, image mine)'),
    });
  });

  it('does not have the sandbox that the settings want', async () => {
    const repo = makeRepo({ settings: { ...claude, sandbox: 'auto' } });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo, { env: pathWith(repo) });
    expect(code).toBe(1);
    expect(of('sandbox')).toMatchObject({
      status: 'error',
      evidence: expect.stringContaining('there is no sandbox on this machine'),
      remedy: expect.stringContaining('--no-sandbox'),
    });
  });

  it('does not let the state be written', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    repo.write('in-the-way', '');
    const { code, of } = await diagnose(repo, { env: { XDG_STATE_HOME: repo.path('in-the-way') } });
    expect(code).toBe(1);
    expect(of('state.writable')?.status).toBe('error');
    expect(of('work.writable')?.status).toBe('ok');
  });

  it('is looked at in a folder that is no working copy', async () => {
    const repo = makeRepo({ settings: claude, git: false });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    const { code, of } = await diagnose(repo, { env: { GIT_CEILING_DIRECTORIES: join(repo.cwd, '..') } });
    expect(code).toBe(0);
    expect(of('git.working-copy')).toMatchObject({ status: 'warning', remedy: 'git init' });
  });
});

describe('the runs before', () => {
  /** The fake agent, with an answer for `auth status`. */
  async function withFakeAgent(steps: Turns[number]['steps']): Promise<Repo> {
    const repo = makeRepo({ settings: claude });
    const turns = [1, 2, 3].map(() => ({ steps }));
    const fake = await installFakeAgent(repo.bin, {
      agent: 'claude',
      name: 'fake-claude',
      script: { turns },
    });
    install(repo, 'claude', `case "$1" in auth) ${loggedIn} ;; *) exec '${fake.path}' "$@" ;; esac`);
    return repo;
  }

  it('are told by outcome', async () => {
    const repo = await withFakeAgent([work, { text: tag }]);
    expect((await runRalph(runArgs(2), repo)).code).toBe(0);
    expect((await diagnose(repo)).of('last-run')).toMatchObject({
      status: 'ok',
      evidence: expect.stringMatching(/^run \S+ ended with PROMISE_ACCEPTED$/),
    });
  });

  it('had events that are not known, which are named with agent and version', async () => {
    const repo = await withFakeAgent([
      { raw: '{"type":"brand_new"}\n' },
      { raw: '{"type":"brand_new"}\n' },
      work,
      { text: tag },
    ]);
    expect((await diagnose(repo)).of('agent.events')?.status).toBe('ok');
    await runRalph(runArgs(2), repo);
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('agent.events')).toMatchObject({
      status: 'warning',
      evidence: expect.stringMatching(
        /^not known in the last 1 runs: claude \d+\.\d+\.\d+: brand_new \(2\)$/,
      ),
    });
  });

  it('are still running, or were killed and can be resumed', async () => {
    const repo = await withFakeAgent([{ hang: true }]);
    const { child, done } = startRalph(runArgs(2), repo);
    await waitUntil(() => journalOf(repo).includes('"agent.started"'));
    expect((await diagnose(repo)).of('last-run')).toMatchObject({
      status: 'ok',
      evidence: expect.stringMatching(/^run \S+ is running here \(process \d+, since /),
    });
    child.kill('SIGKILL');
    await done;
    const { code, of } = await diagnose(repo);
    expect(code).toBe(0);
    expect(of('last-run')).toMatchObject({
      status: 'warning',
      evidence: expect.stringMatching(/^run \S+ was killed in iteration 1$/),
      remedy: expect.stringMatching(/^ralph run --resume [\w-]+$/),
    });
  });

  it('left a lock behind', async () => {
    const repo = makeRepo({ settings: claude });
    installAgent(repo, 'claude', '2.1.325', loggedIn);
    repo.write('.ralph/lock', '{"pid":999999999,"startedAt":"x","token":"x","info":{}}\n');
    expect((await diagnose(repo)).of('last-run')).toMatchObject({
      status: 'warning',
      evidence: expect.stringContaining('was left by a process that is dead'),
    });
  });

  function journalOf(repo: Repo): string {
    const runs = repo.path('.ralph', 'runs');
    const [run] = existsSync(runs) ? readdirSync(runs) : [];
    const journal = join(runs, run ?? '', 'journal.ndjson');
    return existsSync(journal) ? readFileSync(journal, 'utf8') : '';
  }
});
