import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Worker } from '../../../src/fleet/files/workers.ts';
import { alive, processesWithEnvironment, waitUntil } from '../../support/processes.ts';
import { runRalph } from '../../support/ralph.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

const spawn = (fleet: TestFleet, name: string, ...command: string[]) =>
  fleet.swarm('spawn', '--name', name, '--tmux', '--tmux-socket', fleet.socket, '--', ...command);

async function listed(fleet: TestFleet, ...options: string[]): Promise<Worker[]> {
  return JSON.parse((await fleet.swarm('ls', '--format', 'json', ...options)).stdout);
}

const loopWords = ['--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '3'];

const statusOf = async (fleet: TestFleet, name: string) =>
  (await listed(fleet)).find((worker) => worker.name === name)?.status;

describe('a worker in tmux', { timeout: 120_000 }, () => {
  it('lives in a session of its own, beside those that are there', async () => {
    const fleet = makeFleet();
    fleet.tmux('new-session', '-d', '-s', 'swarm', '-n', 'editor');
    const spawned = await spawn(fleet, 'hello', 'echo', 'hello');
    expect(spawned.stdout).toMatch(/^spawned hello \(tmux: swarm-[0-9a-f]{8}:hello\)\n$/);
    const sessions = fleet.tmux('list-sessions', '-F', '#{session_name}').split('\n');
    expect(sessions).toEqual(['swarm', expect.stringMatching(/^swarm-[0-9a-f]{8}$/)]);
    expect(fleet.tmux('list-windows', '-t', '=swarm', '-F', '#{window_name}')).toBe('editor');
    await fleet.swarm('kill', '--all');
    expect(fleet.tmux('list-sessions', '-F', '#{session_name}')).toBe('swarm');
  });

  it('can be spawned from inside tmux, and does not end up in the session there', async () => {
    const fleet = makeFleet();
    fleet.tmux('new-session', '-d', '-s', 'dev', '-c', fleet.cwd);
    const inside = { TMUX: `${fleet.tmux('display-message', '-p', '#{socket_path}')},1,0` };
    Object.assign(fleet.env, inside);
    await spawn(fleet, 'inner', 'sleep', '600');
    expect(fleet.tmux('list-windows', '-t', '=dev')).not.toContain('inner');
    expect(fleet.tmux('list-sessions')).toContain('swarm-');
  });

  it('is listed as it really is, whatever ended it', async () => {
    const fleet = makeFleet();
    await spawn(fleet, 'works', 'sleep', '600');
    await spawn(fleet, 'exits', 'sleep', '0.1');
    await spawn(fleet, 'closed', 'sleep', '600');
    fleet.tmux('kill-window', '-t', 'closed');
    await waitUntil(async () => (await statusOf(fleet, 'exits')) === 'stopped', patience);
    expect(await statusOf(fleet, 'works')).toBe('running');
    expect(await statusOf(fleet, 'closed')).toBe('stopped');
    expect((await fleet.swarm('ls', '--status', 'running', '--format', 'names')).stdout).toBe('works\n');
    expect((await fleet.swarm('ls')).stdout).toMatch(
      /^NAME +STATUS +PID\/WINDOW +STARTED +WORKTREE +TAG\nworks +running +swarm-\w+:works +\d+s +- +-\n/,
    );
  });

  it('goes through its whole life: spawn, status, send, logs, kill, clean', async () => {
    const fleet = makeFleet();
    await spawn(fleet, 'shell', 'bash', '--norc');
    const running = await fleet.swarm('status', 'shell');
    expect(running.code).toBe(0);
    expect(running.stdout).toMatch(/^shell: running \(tmux window swarm-\w+:shell, uptime \d+s\)\n$/);
    const sent = await fleet.swarm('send', 'shell', 'echo "one $((1 + 1))" \'$HOME\'; true Enter');
    expect(sent).toMatchObject({ code: 0, stdout: 'sent to shell\n' });
    await waitUntil(
      async () => (await fleet.swarm('logs', 'shell')).stdout.includes('one 2 $HOME'),
      patience,
    );
    expect((await fleet.swarm('peek', 'shell', '-n', '2')).stdout.trimEnd().split('\n')).toHaveLength(2);
    expect((await fleet.swarm('interrupt', '--all')).stdout).toBe('interrupted shell\n');
    expect((await fleet.swarm('clean', 'shell')).stderr).toContain("cannot clean running worker 'shell'");
    expect((await fleet.swarm('kill', 'shell')).stdout).toBe('killed shell\n');
    expect(await fleet.swarm('status', 'shell')).toMatchObject({ code: 1 });
    expect((await fleet.swarm('send', 'shell', 'x')).stderr).toContain("worker 'shell' is not running");
    expect((await fleet.swarm('clean', 'shell')).stdout).toBe('cleaned shell\n');
    expect(fleet.workers()).toEqual([]);
    expect((await fleet.swarm('status', 'shell')).code).toBe(2);
  });

  it('keeps its last screen after its end', async () => {
    const fleet = makeFleet();
    await spawn(fleet, 'short', 'sh', '-c', 'echo last words; exit 4');
    await waitUntil(async () => (await fleet.swarm('status', 'short')).code === 1, patience);
    expect((await fleet.swarm('logs', 'short')).stdout).toContain('last words');
  });

  it('is waited for until it is ready, or until the time is over', async () => {
    const fleet = makeFleet();
    const tmux = ['--tmux', '--tmux-socket', fleet.socket, '--ready-wait'];
    const ready = ['bash', '-c', 'echo -e "\\x1b[32mClaude Code v2.0.76\\x1b[0m"; cat'];
    const good = await fleet.swarm('spawn', '--name', 'a', ...tmux, '--', ...ready);
    expect(good).toMatchObject({ code: 0, stderr: '' });
    const late = await fleet.swarm(
      'spawn',
      '--name',
      'b',
      ...tmux,
      '--ready-timeout',
      '1',
      '--',
      'sleep',
      '600',
    );
    expect(late.code).toBe(0);
    expect(late.stderr).toBe("swarm: warning: agent 'b' did not become ready within 1s\n");
  });

  it('is cleaned when its window was closed by hand, and left alone while it runs', async () => {
    const fleet = makeFleet();
    await spawn(fleet, 'closed', 'sleep', '600');
    await spawn(fleet, 'runs', 'sleep', '600');
    fleet.tmux('kill-window', '-t', 'closed');
    const cleaned = await fleet.swarm('clean', '--all');
    expect(cleaned).toMatchObject({ code: 0, stdout: 'cleaned closed\n' });
    expect(cleaned.stderr).toBe("swarm: warning: skipping 'runs' (still running)\n");
    expect(fleet.workers().map(({ name }) => name)).toEqual(['runs']);
  });

  it('is respawned with all that it had', async () => {
    const fleet = makeFleet();
    const words = ['--tmux', '--tmux-socket', fleet.socket, '--tag', 'a', '--tag', 'b', '--env', 'X=1 2'];
    await fleet.swarm('spawn', '--name', 'w', ...words, '--', 'sh', '-c', 'echo "X is $X"; sleep 600');
    const before = fleet.worker('w');
    const again = await fleet.swarm('respawn', 'w');
    expect(again.stdout).toMatch(/^respawned w \(tmux: swarm-\w+:w\)\n$/);
    const { started: _, ...after } = fleet.worker('w');
    expect({ ...after, started: before.started }).toEqual(before);
    await waitUntil(async () => (await fleet.swarm('logs', 'w')).stdout.includes('X is 1 2'), patience);
    expect(fleet.tmux('list-windows', '-a', '-F', '#{window_name}')).toBe('w');
    expect((await listed(fleet, '--tag', 'b')).map(({ name }) => name)).toEqual(['w']);
    expect(await listed(fleet, '--tag', 'c')).toEqual([]);
  });
});

describe('words of a worker', { timeout: 120_000 }, () => {
  it('that look like the end of a command reach the program, and tmux runs none of them', async () => {
    const fleet = makeFleet();
    const inj = ['echo', ';', 'run-shell', `touch '${fleet.path('INJECTED')}'`, ';', 'kill-server'];
    expect((await spawn(fleet, 'inj', ...inj)).code).toBe(0);
    const script = 'echo "$LS $1 $2"; exec cat';
    const words = ['--tmux', '--tmux-socket', fleet.socket, '--env', 'LS=a;'];
    await fleet.swarm('spawn', '--name', 'w', ...words, '--', 'sh', '-c', script, 'sh', 'x;', 'y\\;');
    await fleet.swarm('send', 'w', 'SELECT 1;');
    const logs = async (name: string) => (await fleet.swarm('logs', name)).stdout;
    await waitUntil(async () => (await logs('w')).includes('SELECT 1;\nSELECT 1;'), patience);
    expect(await logs('w')).toContain('a; x; y\\;\n');
    await waitUntil(async () => (await logs('inj')).includes('; kill-server'), patience);
    expect(fleet.exists('INJECTED')).toBe(false);
  });
});

describe('a command too long for one call to tmux', { timeout: 120_000 }, () => {
  it('is run as it is, in a worker and in every iteration of a loop', async () => {
    const fleet = makeFleet();
    const odd = `'"$(touch INJECTED)\`x\` ünï\n`;
    const long = `${odd}${'x'.repeat(40_000)}`;
    const show =
      'printf "%s " $(printf %s "$1" | wc -m) $(printf %s "$LONG" | wc -m) >>"$OUT"; printf %s "$1" >"$OUT.word"';
    const words = (name: string) => ['--name', name, '--tmux-socket', fleet.socket, '--env', `LONG=${long}`];
    const out = (name: string) => ['--env', `OUT=${fleet.path(name)}`];
    const command = ['--env', 'LC_ALL=C.UTF-8', '--', 'bash', '-c', show, 'bash', long];
    expect((await fleet.swarm('spawn', ...words('w'), ...out('w'), '--tmux', ...command)).code).toBe(0);
    expect((await fleet.swarm('spawn', ...words('l'), ...out('l'), ...loopWords, ...command)).code).toBe(0);
    await fleet.until('l', 'stopped');
    await waitUntil(() => fleet.exists('w.word'), patience);
    const sizes = `${long.length} ${long.length} `;
    await waitUntil(() => fleet.read('w') === sizes, patience);
    expect(fleet.read('l')).toBe(sizes.repeat(3));
    expect(fleet.read('l.word')).toBe(long);
    expect(fleet.exists('INJECTED')).toBe(false);
  });
});

describe('a window that is not ours', { timeout: 120_000 }, () => {
  it('is left alone, though it has the name and the place of a worker', async () => {
    const fleet = makeFleet();
    await spawn(fleet, 'a', 'sleep', '600');
    await spawn(fleet, 'b', 'sleep', '600');
    const { session = '' } = fleet.worker('a').tmux ?? {};
    fleet.tmux('kill-window', '-t', `=${session}:=a`);
    fleet.tmux('new-window', '-d', '-t', `=${session}:`, '-n', 'a', 'cat');
    const stranger = () => fleet.tmux('capture-pane', '-p', '-t', `=${session}:=a`);
    expect(await fleet.swarm('status', 'a')).toMatchObject({ code: 1 });
    expect((await fleet.swarm('send', 'a', 'typed')).stderr).toContain("worker 'a' is not running");
    expect((await fleet.swarm('interrupt', 'a')).code).toBe(1);
    await fleet.swarm('send', '--all', 'typed');
    expect((await fleet.swarm('kill', 'a')).stdout).toBe('killed a\n');
    expect((await fleet.swarm('clean', 'a')).stdout).toBe('cleaned a\n');
    expect(fleet.tmux('list-windows', '-t', `=${session}`, '-F', '#{window_name}')).toBe('a\nb');
    expect(stranger()).toBe('');
  });
});

describe('a worker in the background', { timeout: 120_000 }, () => {
  it('has a pid and log files, and is ended with all that it started', async () => {
    const fleet = makeFleet();
    const hidden = 'env -i PATH="$PATH" setsid sh -c \'echo $$ >hidden.pid; exec sleep 602\' &';
    const script = `echo out; echo err >&2; ${hidden} sleep 601 & trap "" TERM; while :; do sleep 0.1; done`;
    const spawned = await fleet.swarm('spawn', '--name', 'bg', '--', 'sh', '-c', script);
    const { pid, tmux, status } = fleet.worker('bg');
    expect({ tmux, status }).toEqual({ tmux: null, status: 'running' });
    expect(spawned.stdout).toBe(`spawned bg (pid: ${pid})\n`);
    const log = join(fleet.home, '.swarm/logs/bg.stderr.log');
    await waitUntil(() => readFileSync(log, 'utf8') === 'err\n', patience);
    expect(await fleet.swarm('logs', 'bg')).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
    expect(await fleet.swarm('send', 'bg', 'x')).toMatchObject({ code: 1 });
    expect((await fleet.swarm('attach', 'bg')).stderr).toContain("worker 'bg' is not a tmux worker");
    const children = processesWithEnvironment('SWARM_WORKER', 'bg');
    expect(children.length).toBeGreaterThan(1);
    children.push(
      Number(await waitUntil(() => fleet.exists('hidden.pid') && fleet.read('hidden.pid'), patience)),
    );
    expect((await fleet.swarm('kill', 'bg')).stdout).toBe('killed bg\n');
    for (const child of children) expect(alive(child)).toBe(false);
    expect((await fleet.swarm('clean', 'bg', '--rm-worktree')).stdout).toBe('cleaned bg\n');
    expect(existsSync(log)).toBe(false);
  });

  it('shows its last lines, as one in tmux does', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'bg', '--', 'sh', '-c', 'seq 100; exec sleep 600');
    await spawn(fleet, 'pane', 'sh', '-c', 'seq 100; exec sleep 600');
    for (const name of ['bg', 'pane']) {
      const last = async (...words: string[]) => (await fleet.swarm(...words)).stdout;
      await waitUntil(async () => (await last('logs', name)).includes('100\n'), patience);
      expect(await last('logs', name, '--lines', '2')).toBe('99\n100\n');
      expect(await last('logs', name, '--lines', '80')).toMatch(/^21\n22\n/);
      expect(await last('peek', name, '-n', '2')).toBe('99\n100\n');
    }
    expect((await fleet.swarm('peek', '--all', '-n', '1')).stdout).toBe(
      '=== bg ===\n100\n\n=== pane ===\n100\n\n',
    );
  });

  it('is waited for, with a time-out', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'fast', '--', 'sleep', '0.3');
    await fleet.swarm('spawn', '--name', 'slow', '--', 'sleep', '600');
    expect(await fleet.swarm('wait', 'fast')).toMatchObject({ code: 0, stdout: 'fast: exited\n' });
    const both = await fleet.swarm('wait', '--all', '--timeout', '0.2');
    expect(both).toMatchObject({ code: 1, stdout: 'slow: still running (timeout)\n' });
    expect(await fleet.swarm('wait', 'none')).toMatchObject({ code: 1 });
  });

  it('is not taken for a later process with the same pid', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'old', '--', 'sleep', '600');
    const path = join(fleet.home, '.swarm/state.json');
    const [worker] = fleet.workers();
    const { pid } = worker ?? {};
    const foreign = { ...worker, pid: process.pid };
    writeFileSync(path, JSON.stringify({ workers: [foreign] }));
    expect((await fleet.swarm('kill', 'old')).code).toBe(0);
    expect(alive(process.pid)).toBe(true);
    expect(alive(pid ?? 0)).toBe(false);
  });
});

describe('swarm spawn refuses', { timeout: 60_000 }, () => {
  const cases: [what: string, args: string[], message: string][] = [
    [
      'a loop without a prompt file',
      ['--ralph', '--max-iterations', '3', '--', 'x'],
      '--ralph requires --prompt-file',
    ],
    [
      'a loop without a maximum',
      ['--ralph', '--prompt-file', 'PROMPT.md', '--', 'x'],
      '--ralph requires --max-iterations',
    ],
    [
      'missing prompt file',
      ['--ralph', '--prompt-file', './missing.md', '--max-iterations', '10', '--', 'claude'],
      'prompt file not found: ./missing.md',
    ],
    ['no command', ['--'], 'no command provided (use -- command...)'],
    [
      'a variable without a value',
      ['--env', 'INVALID', '--', 'x'],
      "invalid env format 'INVALID' (expected KEY=VAL)",
    ],
    [
      'a program that is not there',
      ['--', '/nowhere/x'],
      'failed to spawn process: /nowhere/x is not a program that can be run',
    ],
    [
      'a loop of a program that is not there',
      [...loopWords, '--', 'nosuchprog'],
      'failed to spawn process: nosuchprog is not a program that can be run',
    ],
    ['a folder that is a file', ['--tmux', '--cwd', 'PROMPT.md', '--', 'true'], 'there is no folder '],
    [
      'a program that is not there, before a window opens for it',
      ['--tmux', '--', '/nowhere/x'],
      'failed to spawn process: /nowhere/x is not a program that can be run',
    ],
    [
      'no time at all to be silent',
      [...loopWords, '--inactivity-timeout', '0', '--', 'x'],
      '--inactivity-timeout takes a time of one second or more',
    ],
    [
      'a pattern that could take for ever',
      [...loopWords, '--done-pattern', '(a)(?P=x)', '--', 'x'],
      'the pattern "(a)(?P=x)" cannot be used: back-references are not supported, because they can take for ever',
    ],
  ];
  it.each(cases)('%s', async (_, args, message) => {
    const fleet = makeFleet();
    const result = await fleet.swarm('spawn', '--name', 'agent', ...args);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain(`swarm: error: ${message}`);
    expect(fleet.workers()).toEqual([]);
  });

  it('a loop without a name only after what is wrong with the loop', async () => {
    const fleet = makeFleet();
    const words = ['--ralph', '--prompt-file', './missing.md', '--max-iterations', '10', '--', 'claude'];
    const { stderr } = await fleet.swarm('spawn', ...words);
    expect(stderr).toBe('swarm: error: prompt file not found: ./missing.md\n');
  });

  it('names that are taken, or that are none', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'dupe', '--', 'sleep', '600');
    const dupe = await fleet.swarm('spawn', '--name', 'dupe', '--', 'sleep', '600');
    expect(dupe.code).toBe(1);
    expect(dupe.stderr).toContain("swarm: error: worker 'dupe' already exists\n");
    for (const name of ['../x', 'a b', '', '-x', 'a/b', 'a:b', 'x'.repeat(200)]) {
      expect((await fleet.swarm('spawn', `--name=${name}`, '--', 'true')).code).toBe(1);
    }
    for (const option of [
      '--session=',
      '--session=a;',
      '--session=#(x)',
      '--tmux-socket=',
      '--tmux-socket=a/b',
    ]) {
      const refused = await fleet.swarm('spawn', '--name=w', '--tmux', option, '--', 'sleep', '600');
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is no name for a tmux s') });
    }
    expect(fleet.workers()).toHaveLength(1);
  });

  it('a worktree outside a repository, and takes the worktree back when the rest fails', async () => {
    const outside = makeFleet({ git: false });
    const words = ['spawn', '--name', 'wt', '--worktree', '--'];
    const refused = await outside.swarm(...words, 'true');
    expect(refused.stderr).toContain('swarm: error: not in a git repository (required for --worktree)\n');
    const fleet = makeFleet();
    const failed = await fleet.swarm(...words, '/nowhere/x');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(
      /^swarm: warning: spawn failed, cleaning up partial state\nswarm: error: failed/,
    );
    expect(existsSync(`${fleet.cwd}-worktrees/wt`)).toBe(false);
    expect(fleet.git('branch', '--list', 'wt')).toBe('');
    expect((await fleet.swarm(...words, 'sleep', '600')).code).toBe(0);
  });

  it('a window where there is no tmux, and says what to install', async () => {
    const fleet = makeFleet();
    const { code, stderr } = await runRalph(['spawn', '--name', 'w', '--tmux', '--', process.execPath], {
      ...fleet,
      env: { ...fleet.env, PATH: fleet.cwd },
      program: 'swarm',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('swarm: error: tmux is not installed\n  try: apt install tmux\n');
    expect(existsSync(join(fleet.home, '.swarm/marks/w.changed'))).toBe(false);
  });

  it('nothing, but warns of many iterations', async () => {
    const fleet = makeFleet();
    const spawned = await fleet.loop('agent', 'sleep 600', '--max-iterations', '100');
    expect(spawned.code).toBe(0);
    expect(spawned.stderr).toBe(
      'swarm: warning: high iteration count (>50) may consume significant resources\n',
    );
  });
});

describe('a list of workers that is damaged', () => {
  it('is set aside with a warning when it is no JSON', async () => {
    const fleet = makeFleet({ git: false });
    const path = join(fleet.home, '.swarm/state.json');
    mkdirSync(join(fleet.home, '.swarm'));
    writeFileSync(path, '{invalid json}}');
    const listedAfter = await fleet.swarm('ls');
    expect(listedAfter).toMatchObject({ code: 0, stdout: '' });
    expect(listedAfter.stderr).toContain('corrupt state file');
    expect(readFileSync(`${path}.corrupted`, 'utf8')).toBe('{invalid json}}');
    writeFileSync(path, '{again');
    expect((await fleet.swarm('ls')).stderr).toContain('state.json.corrupted-2');
    expect(readFileSync(`${path}.corrupted`, 'utf8')).toBe('{invalid json}}');
    expect(readFileSync(`${path}.corrupted-2`, 'utf8')).toBe('{again');
    writeFileSync(path, '{"workers": [{"id": "w1"}]}');
    expect((await fleet.swarm('ls')).code).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('{"workers": [{"id": "w1"}]}');
    const worker = { name: 'w1', status: 'running', cmd: ['true'], started: '', cwd: '/' };
    for (const wrong of [{ tags: 'x' }, { tmux: {} }, { env: { A: 1 } }, { worktree: 'w' }, { pid: '7' }]) {
      writeFileSync(path, JSON.stringify({ workers: [worker, { ...worker, ...wrong }] }));
      expect((await fleet.swarm('ls')).stderr).toContain('worker 2 in it lacks a field, or has a wrong one');
    }
  });
});

describe('worktrees of workers', { timeout: 60_000 }, () => {
  it('that hold work are kept, unless it is forced', async () => {
    const fleet = makeFleet();
    for (const name of ['clean', 'dirty', 'forced']) {
      await fleet.swarm('spawn', '--name', name, '--worktree', '--', 'sleep', '600');
    }
    const folder = (name: string) => `${fleet.cwd}-worktrees/${name}`;
    for (const name of ['dirty', 'forced']) writeFileSync(join(folder(name), 'new.txt'), 'work');
    await fleet.swarm('kill', 'clean', '--rm-worktree');
    expect(existsSync(folder('clean'))).toBe(false);
    const kept = await fleet.swarm('kill', 'dirty', '--rm-worktree');
    expect(kept.code).toBe(0);
    expect(kept.stderr).toContain(
      "swarm: warning: cannot remove worktree for 'dirty': worktree has uncommitted",
    );
    expect(kept.stderr).toContain('swarm: use --force-dirty to remove anyway\n');
    const cleaned = await fleet.swarm('clean', 'dirty');
    expect(cleaned.stderr).toContain("swarm: warning: preserving worktree for 'dirty'");
    expect(existsSync(join(folder('dirty'), 'new.txt'))).toBe(true);
    await fleet.swarm('kill', 'forced', '--rm-worktree', '--force-dirty');
    expect(existsSync(folder('forced'))).toBe(false);
  });
});
