import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { type RunOptions, type RunResult, runRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { openTerminal } from '../support/terminal.ts';

const megabyte = 1024 * 1024;

/** A fleet of stopped workers whose list takes more than 10 MB. */
function largeFleet(): { repo: Repo; options: RunOptions; workers: readonly object[] } {
  const repo = makeRepo({ git: false });
  const workers = Array.from({ length: 90 }, (_, index) => ({
    name: `w${index}`,
    status: 'stopped',
    cmd: ['agent', `${index} größer ✓ `.repeat(8000)],
    started: '2026-01-01T00:00:00.000000',
    cwd: repo.cwd,
    env: {},
    tags: [],
    tmux: null,
    worktree: null,
    pid: null,
    metadata: {},
  }));
  repo.write('swarm/state.json', JSON.stringify({ workers }));
  const env = { ...repo.env, SWARM_HOME: repo.path('swarm') };
  return { repo, options: { ...repo, env, program: 'swarm' }, workers };
}

/** Runs the command as a part of a script of the shell, where it is "$@". */
function inShell(options: RunOptions, args: readonly string[], script: string): Promise<RunResult> {
  return runRalph(args, { ...options, through: ['bash', '-o', 'pipefail', '-c', script, 'bash'] });
}

const listAsJson = ['ls', '--format', 'json'];

describe('what a command prints', () => {
  it('arrives whole at a slow reader', async () => {
    const { options, workers } = largeFleet();
    let pauses = 0;
    const running = startRalph(listAsJson, {
      ...options,
      through: ['bash', '-c', '"$@" | cat', 'bash'],
      onSpawn: ({ stdout }) =>
        stdout?.on('data', () => {
          pauses += 1;
          stdout.pause();
          setTimeout(() => stdout.resume(), 2);
        }),
    });
    const { code, stdout, stderr } = await running.done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(Buffer.byteLength(stdout)).toBeGreaterThan(10 * megabyte);
    expect(pauses).toBeGreaterThan(100);
    expect(JSON.parse(stdout)).toEqual(workers);
  });

  it('arrives whole in a file', async () => {
    const { options, workers } = largeFleet();
    const { stdout } = await inShell(options, listAsJson, '"$@" >list && cat list');
    expect(JSON.parse(stdout)).toEqual(workers);
  });

  it('arrives whole through a pipe that does not block', async () => {
    const { options, workers } = largeFleet();
    // Node makes its own standard output such a pipe, and leaves one that it hands on under another number as it is.
    const partner = `
      process.stdout.write('');
      const [shell, ...words] = process.argv.slice(1);
      require('node:child_process').spawnSync(shell, words, { stdio: ['ignore', 'ignore', 2, 1] });`;
    const script = `node -e "${partner}" bash -c 'exec "$@" >&3' bash "$@" | { sleep 1; cat; }`;
    const { stdout, stderr } = await inShell(options, listAsJson, script);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(workers);
  });

  it('ends quietly where nobody reads on', async () => {
    const { options } = largeFleet();
    const { code, stdout, stderr } = await inShell(options, listAsJson, '"$@" | head -1');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '[\n', stderr: '' });
  });

  it('keeps its exit code where nobody reads on', async () => {
    const { options } = largeFleet();
    const script = '"$@" | true; echo "$PIPESTATUS"';
    expect(await inShell(options, ['status', 'w1'], script)).toMatchObject({ stdout: '1\n', stderr: '' });
  });

  it('is told as an error where it finds no room', async () => {
    const { options } = largeFleet();
    const { code, stderr } = await inShell(options, ['ls'], '"$@" >/dev/full');
    expect(code).toBe(70);
    expect(stderr).toMatch(/^swarm: error: ENOSPC: .+\n$/);
  });
});

describe('ralph without a word', () => {
  it('prints its help and ends with 2, in a terminal and elsewhere', async () => {
    const repo = makeRepo();
    const terminal = openTerminal(repo, []);
    expect(await terminal.exitCode()).toBe(2);
    expect(terminal.screen()).toContain('ralph COMMAND --help');
    const { code, stdout, stderr } = await runRalph([], repo);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('ralph COMMAND --help');
  });
});

describe('a command that goes on', () => {
  it('ends when nobody reads any more', async () => {
    const { options, repo } = largeFleet();
    const log = 'swarm/logs/w1.stdout.log';
    repo.write(log, 'line\n');
    let end: RunResult | undefined;
    void inShell(options, ['logs', 'w1', '--follow'], '"$@" | head -1').then((result) => {
      end = result;
    });
    await waitUntil(
      () => {
        appendFileSync(repo.path(log), 'line\n');
        return end !== undefined;
      },
      { timeoutMs: 60_000, what: 'the end of the command' },
    );
    expect(end).toMatchObject({ code: 0, stdout: 'line\n', stderr: '' });
  });
});
