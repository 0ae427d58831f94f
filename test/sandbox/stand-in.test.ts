import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { runArgs, type Turns, tag, work } from '../support/agent.ts';
import { builtProgram, type RunResult, runRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { bwrapWorks } from './support.ts';

const program = fileURLToPath(new URL('stand-in.cjs', import.meta.url));
const done = { steps: [work, { text: tag }] };

type Room = {
  readonly repo: Repo;
  ralph(words: readonly string[], defects?: string, cwd?: string): Promise<RunResult>;
  /** The commands of the stand-in that were called. */
  calls(): string[][];
};

/** A machine with `sbx` or `docker` and without an agent; the agent is in the sandbox. */
async function makeRoom(name: 'sbx' | 'docker', turns: Turns, settings: object = {}): Promise<Room> {
  const repo = makeRepo({
    files: { 'README.md': 'x\n' },
    settings: { agent: { command: 'claude' }, ...settings },
  });
  const [standIn, template] = [join(repo.home, 'stand-in'), join(repo.home, 'template')];
  mkdirSync(standIn);
  await installFakeAgent(template, { agent: 'claude', script: { turns } });
  const path = join(repo.bin, name);
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' ${name} "$@"\n`);
  chmodSync(path, 0o755);
  const env = { ...repo.env, STAND_IN: standIn, TEMPLATE: template, DIST: dirname(builtProgram('ralph')) };
  return {
    repo,
    ralph: (words, defects = '', cwd = repo.cwd) =>
      runRalph(words, { cwd, bin: repo.bin, env: { ...env, DEFECTS: defects } }),
    calls: () => readLines(join(standIn, 'calls')).map((line): string[] => JSON.parse(line)),
  };
}

const readLines = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);
const verbs = (room: Room) => room.calls().map((call) => call.filter((word) => word !== 'sandbox')[1]);

describe.skipIf(!bwrapWorks())('a loop in sbx, which a stand-in plays', () => {
  it('makes the sandbox once, runs the agent in it, and stops it', async () => {
    const spy = {
      shell: `cat ~/.ssh/id '${'{{home}}'}' > spied.txt; pwd > where.txt; printf %s "$ANTHROPIC_API_KEY" > key.txt`,
    };
    const room = await makeRoom('sbx', [{ steps: [spy, work] }, done, done], {
      guardrails: [{ command: 'test -f work.txt' }],
    });
    mkdirSync(join(room.repo.home, '.ssh'));
    writeFileSync(join(room.repo.home, '.ssh', 'id'), 'SECRET');
    const { code, stdout, stderr } = await room.ralph(runArgs(3, '--sandbox', 'sbx'));
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('claude runs in a sandbox (sbx)');
    expect(stdout).toContain('claude may do everything without asking');
    expect(room.repo.read('spied.txt')).toBe('');
    expect(room.repo.read('where.txt').trim()).toBe(room.repo.cwd);
    expect(verbs(room).filter((verb) => verb === 'create')).toHaveLength(1);
    expect(verbs(room).at(-1)).toBe('stop');
    expect(stdout + stderr).not.toContain('ralph-end-');
    const again = await room.ralph(runArgs(1, '--sandbox', 'sbx'));
    expect(again.code, again.stderr).toBe(0);
    expect(verbs(room).filter((verb) => verb === 'create')).toHaveLength(1);
  });

  it('passes keys of the agent by name, so that no list of processes shows them', async () => {
    const room = await makeRoom(
      'sbx',
      [{ steps: [{ shell: 'printf %s "$ANTHROPIC_API_KEY-$DEPLOY_TOKEN" > key.txt' }, { text: tag }] }],
      {
        agent: { command: 'claude', env: { ANTHROPIC_API_KEY: 'sk-secret' } },
      },
    );
    expect((await room.ralph(runArgs(1, '--sandbox', 'sbx'))).code).toBe(0);
    expect(room.repo.read('key.txt')).toBe('sk-secret-');
    expect(JSON.stringify(room.calls())).not.toContain('sk-secret');
  });

  it('allows the hosts that were asked for', async () => {
    const room = await makeRoom('sbx', [done]);
    await room.ralph(runArgs(1, '--sandbox', 'sbx', '--allow-host', 'example.com', '--allow-host', '*'));
    expect(room.calls()).toContainEqual(
      expect.arrayContaining(['policy', 'allow', 'network', 'example.com,**']),
    );
  });

  it('puts back what decides what runs outside', async () => {
    const evil = {
      shell:
        'echo owned > .git/hooks/pre-commit; git config core.fsmonitor owned; mkdir -p .claude; echo owned > .claude/settings.json',
    };
    const room = await makeRoom('sbx', [{ steps: [evil, work, { text: tag }] }]);
    expect((await room.ralph(runArgs(1, '--sandbox', 'sbx'))).code).toBe(0);
    expect(room.repo.exists('.git/hooks/pre-commit')).toBe(false);
    expect(room.repo.read('.git/config')).not.toContain('owned');
    expect(room.repo.exists('.claude/settings.json')).toBe(false);
  });

  it('does the same for a linked worktree, which gets its repository and not what is beside that', async () => {
    const room = await makeRoom('sbx', [done]);
    const linked = room.repo.path('..', 'linked');
    room.repo.git('worktree', 'add', '-q', linked);
    const main = room.repo.path('.git');
    const evil = `echo owned > '${main}/hooks/pre-commit'; git config core.fsmonitor owned; git config --get core.fsmonitor; echo owned > '${room.repo.cwd}/README.md'`;
    const words = ['sandbox', 'exec', '--provider', 'sbx', '--', 'sh', '-c', evil];
    const { stdout } = await room.ralph(words, '', linked);
    expect(stdout).toBe('owned\n');
    expect(room.calls().find((call) => call[1] === 'create')).toEqual(expect.arrayContaining([linked, main]));
    expect(room.repo.exists('.git/hooks/pre-commit')).toBe(false);
    expect(room.repo.read('.git/config')).not.toContain('owned');
    expect(room.repo.read('README.md')).toBe('x\n');
  });

  it('is the first choice of auto', async () => {
    const room = await makeRoom('sbx', [done]);
    expect((await room.ralph(runArgs(1, '--sandbox'))).stdout).toContain('runs in a sandbox (sbx)');
  });

  it.each([
    ['the daemon tells that it starts before the JSON', 'banner'],
    ['it wants to read from its input', 'asks'],
  ])('goes on where %s', async (_what, defect) => {
    const room = await makeRoom('sbx', [done]);
    const { code, stderr } = await room.ralph(runArgs(1, '--sandbox', 'sbx'), defect);
    expect(code, stderr).toBe(0);
  });

  it.each([
    ['logged-out', 'not logged in'],
    ['garbage', 'sbx does not answer'],
  ])('does not start with a sandbox that is %s, and takes no other', async (defect, said) => {
    const room = await makeRoom('sbx', [done]);
    const { code, stderr } = await room.ralph(runArgs(1, '--sandbox', 'sbx'), defect);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).toContain('sbx login && sbx policy init balanced');
    expect(stderr).toContain('--no-sandbox');
    expect(room.repo.exists('work.txt')).toBe(false);
  });

  it('tells a sandbox that is gone from an agent that fails, though both exit with 1', async () => {
    const gone = await makeRoom('sbx', [done]);
    const { code, stderr } = await gone.ralph(runArgs(3, '--sandbox', 'sbx'), 'vanishes');
    expect(code).toBe(2);
    expect(stderr).toContain("the sandbox did not run the command: ERROR: no sandbox named 'ralph-the-repo-");
    const failing = await makeRoom('sbx', [
      { steps: [{ error: { status: 500, message: 'overloaded' } }] },
      done,
    ]);
    const other = await failing.ralph(runArgs(3, '--sandbox', 'sbx'));
    expect(other.code, other.stderr).toBe(0);
  });

  it('is removed by ralph sandbox rm', async () => {
    const room = await makeRoom('sbx', [done]);
    await room.ralph(runArgs(1, '--sandbox', 'sbx'));
    expect((await room.ralph(['sandbox', 'status'])).stdout).toMatch(
      /sbx +works.*\n +ralph-the-repo-\w+: ready/,
    );
    expect((await room.ralph(['sandbox', 'rm'])).stdout).toMatch(/removed sbx ralph-the-repo-/);
    expect(room.calls()).toContainEqual(expect.arrayContaining(['rm', '--force']));
    expect((await room.ralph(['sandbox', 'rm'])).stdout).toBe('there is no sandbox of this project\n');
  });
});

describe.skipIf(!bwrapWorks())('a loop in docker sandbox, which a stand-in plays', () => {
  it('creates, sets up and runs it, and waits until the files are back', async () => {
    const room = await makeRoom('docker', [{ steps: [work] }, done]);
    const { code, stdout, stderr } = await room.ralph(runArgs(3, '--sandbox', 'docker-sandbox'));
    expect(code, stdout + stderr).toBe(0);
    expect(room.repo.read('work.txt')).toBe('work\nwork\n');
    const name = `ralph-${room.repo.cwd.replace(/[^A-Za-z0-9._-]/g, '_')}`;
    const state = join(room.repo.home, '.dclaude_state');
    expect(room.calls()).toContainEqual([
      'docker',
      'sandbox',
      'create',
      '--name',
      name,
      'claude',
      room.repo.cwd,
      state,
    ]);
    expect(JSON.parse(readFileSync(join(state, '.claude.json'), 'utf8'))).toEqual({});
    const run = room.calls().find((call) => call[2] === 'run') ?? [];
    expect(run.slice(2, 5)).toEqual(['run', name, '--']);
    expect(run.at(-1)).toContain('Do the task.');
    const home = join(room.repo.home, 'stand-in', name, 'home');
    expect(execFileSync('readlink', [join(home, '.claude')], { encoding: 'utf8' }).trim()).toBe(
      join(state, '.claude'),
    );
    expect(readFileSync(join(home, '.gitconfig'), 'utf8')).toContain('Ralph Loop');
  });

  it('shows it what else was named, read-only unless told otherwise, and the repository of a worktree', async () => {
    const room = await makeRoom('docker', [done], { sandboxPaths: ['/usr/share', '/var/lib:rw'] });
    const linked = room.repo.path('..', 'linked');
    room.repo.git('worktree', 'add', '-q', linked);
    // The settings are the user's own, so git does not bring them there.
    cpSync(room.repo.path('.ralph'), join(linked, '.ralph'), { recursive: true });
    const words = ['sandbox', 'exec', '--provider', 'docker-sandbox', '--', 'git', 'status', '--short'];
    expect(await room.ralph(words, '', linked)).toMatchObject({ code: 0, stdout: '' });
    const created = room.calls().find((call) => call[2] === 'create') ?? [];
    const state = join(room.repo.home, '.dclaude_state');
    const others = [room.repo.path('.git'), '/usr/share:ro', '/var/lib'];
    expect(created.slice(6)).toEqual([linked, ...others, state]);
  });

  it('stops it before a run is resumed, so that it sees what people have changed', async () => {
    const copy = { shell: 'cat README.md > seen.txt' };
    const room = await makeRoom('docker', [
      { steps: [copy, { text: 'Not yet.' }] },
      { steps: [copy, { text: tag }] },
    ]);
    expect((await room.ralph(runArgs(1, '--sandbox', 'docker-sandbox'))).code).toBe(1);
    expect(room.repo.read('seen.txt')).toBe('x\n');
    room.repo.write('README.md', 'changed by a human\n');
    const before = room.calls().length;
    expect((await room.ralph(['run', '--resume', '-m', '2'])).code).toBe(0);
    expect(room.repo.read('seen.txt')).toBe('changed by a human\n');
    const after = verbs(room).slice(before);
    expect(after.indexOf('stop')).toBeLessThan(after.indexOf('run'));
  });
});

/** Whether the real ones are here, logged in and set up. */
const works = (program: string, ...words: string[]) => {
  try {
    execFileSync(program, words, { stdio: 'ignore', timeout: 30_000 });
    return true;
  } catch {
    return false;
  }
};

describe.each([
  ['sbx', works('sbx', 'ls', '--json')],
  ['docker-sandbox', works('docker', 'sandbox', 'ls')],
] as const)('the real %s (skipped where it is not installed and logged in)', (provider, there) => {
  it.skipIf(!there)('runs a command in the project', { timeout: 900_000 }, async () => {
    const repo = makeRepo({ files: { 'README.md': 'x\n' } });
    const env = { ...repo.env, HOME: process.env.REAL_HOME ?? repo.home };
    const words = ['sandbox', 'exec', '--provider', provider, '--agent', 'claude', '--'];
    const { code, stdout } = await runRalph([...words, 'sh', '-c', 'cat README.md; exit 7'], {
      cwd: repo.cwd,
      env,
    });
    await runRalph(['sandbox', 'rm'], { cwd: repo.cwd, env });
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 7, stdout: 'x' });
  });
});
