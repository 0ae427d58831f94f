import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fleetPaths } from '../../src/fleet/files/paths.ts';
import { alive, waitUntil } from '../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './swarm/fleet.ts';

const rests = 'sleep 600';
const dead = { pid: 999_999_999, startedAt: 'never' };

describe('swarm doctor', () => {
  it('finds nothing where all is well', async () => {
    const fleet = makeFleet();
    expect(await fleet.swarm('doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 workers'),
    });
    await fleet.loop('one', rests);
    const { code, stdout } = await fleet.swarm('doctor');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^all is well: 1 worker, supervisor \d+\n$/)]);
  });

  it('only tells without --fix, and leaves nothing with it', async () => {
    const fleet = makeFleet();
    const home = join(fleet.home, '.swarm');
    await plain(fleet, 'keeper');
    await plain(fleet, 'gone');
    // Somebody removed a worker from the list by hand, and with it the only way to its window.
    edit(fleet, (workers) => workers.filter(({ name }) => name !== 'gone'));
    writeFileSync(join(home, 'state.lock'), JSON.stringify({ ...dead, token: 'x', info: {} }));
    const torn = join(home, '.state.json.1.abc.tmp');
    writeFileSync(torn, '{');
    utimesSync(torn, 1, 1);

    const told = await fleet.swarm('doctor');
    expect(told.code).toBe(1);
    expect(told.stdout).toContain(
      "belongs to 'gone', which is not on the list\n         swarm doctor --fix would close it",
    );
    expect(told.stdout).toContain(`a lock without an owner: ${join(home, 'state.lock')}`);
    expect(told.stdout).toContain(`a file that was never finished: ${torn}`);
    expect(windows(fleet)).toEqual(['gone', 'keeper']);

    const { code, stdout } = await fleet.swarm('doctor', '--fix');
    expect(stdout).not.toContain('problem');
    expect(code).toBe(0);
    expect(windows(fleet)).toEqual(['keeper']);
    expect(readdirSync(home).filter((name) => /lock$|tmp$/.test(name))).toEqual([]);
    expect((await fleet.swarm('doctor')).stdout).toContain('all is well');
    expect(fleet.worker('keeper').status).toBe('running');
  });

  it('ends processes that outlived their worker, and no others', async () => {
    const fleet = makeFleet();
    await plain(fleet, 'keeper');
    const session = fleetPaths({ ...process.env, ...fleet.env }).session;
    const start = (id: string) => {
      const child = spawn('sleep', ['600'], { env: { ...process.env, RALPH_RUN_ID: id }, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child.pid ?? 0;
    };
    const [ours, foreign] = [start(`${session}/ghost`), start('swarm-00000000/ghost')];
    expect((await fleet.swarm('doctor')).stdout).toContain("'ghost' has processes that go on");
    expect((await fleet.swarm('doctor', '--fix')).code).toBe(0);
    await waitUntil(() => !alive(ours), patience);
    expect(alive(foreign)).toBe(true);
    expect(windows(fleet)).toEqual(['keeper']);
  });

  it('marks a worker as stopped whose window is gone, and starts a supervisor that is missing', async () => {
    const fleet = makeFleet();
    await plain(fleet, 'lost');
    await fleet.loop('looping', rests);
    fleet.tmux('kill-window', '-t', 'lost');
    const pid = await waitUntil(() => fleet.supervisor(), patience);
    process.kill(pid ?? 0, 'SIGKILL');
    await waitUntil(() => fleet.supervisor() === null, patience);
    const { stdout } = await fleet.swarm('doctor', '--fix');
    expect(stdout).toContain("fixed    'lost' counts as running, but its window is gone");
    expect(stdout).toContain('fixed    nobody drives the loops: looping');
    expect(fleet.worker('lost').status).toBe('stopped');
    await waitUntil(() => fleet.supervisor() !== null, patience);
  });

  it('checks a lost worktree out again, and takes half a worktree back', async () => {
    const fleet = makeFleet();
    const own = ['--tmux-socket', fleet.socket, '--tmux', '--worktree'];
    await fleet.swarm('spawn', '--name', 'one', ...own, '--', 'sleep', '600');
    const { worktree } = fleet.worker('one');
    const path = worktree?.path ?? '';
    rmSync(path, { recursive: true });
    const half = join(dirname(path), 'two');
    fleet.git('worktree', 'add', '--quiet', '-b', 'two', half);
    const intent = {
      name: 'two',
      place: { path: half, branch: 'two', base_repo: fleet.cwd },
      newBranchAt: fleet.git('rev-parse', 'HEAD'),
    };
    const notes = join(fleet.home, '.swarm', 'worktrees');
    mkdirSync(notes, { recursive: true });
    writeFileSync(join(notes, 'two.json'), JSON.stringify(intent));

    const { stdout, code } = await fleet.swarm('doctor', '--fix');
    expect(stdout).toContain(`the worktree of 'one' is missing: ${path}`);
    expect(stdout).toContain(`a spawn of 'two' was cut off and left a worktree: ${half}`);
    expect([code, stdout.includes('problem')]).toEqual([0, false]);
    expect(existsSync(join(path, 'PROMPT.md'))).toBe(true);
    expect(existsSync(half)).toBe(false);
    expect(fleet.git('branch', '--list', 'two')).toBe('');
    expect(readdirSync(notes)).toEqual([]);
  });
});

describe('swarm merge', () => {
  it('brings the commits of a worker home, and says what it cannot do', async () => {
    const fleet = makeFleet();
    const own = ['--tmux-socket', fleet.socket, '--tmux', '--worktree'];
    await fleet.swarm('spawn', '--name', 'one', ...own, '--', 'sleep', '600');
    await plain(fleet, 'plain');
    const path = fleet.worker('one').worktree?.path ?? '';
    expect((await fleet.swarm('merge', 'one')).stdout).toBe('one is merged into main already\n');
    writeFileSync(join(path, 'work.txt'), 'work');
    execFileSync('git', ['add', 'work.txt'], { cwd: path });
    const dirty = await fleet.swarm('merge', 'one');
    expect(dirty).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'one' has uncommitted changes"),
    });
    execFileSync('git', ['commit', '--quiet', '--message=Work'], { cwd: path });
    writeFileSync(join(path, 'notes.txt'), 'x');
    const { code, stdout, stderr } = await fleet.swarm('merge', 'one');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^merged 1 commit of one into main \(fast-forward [0-9a-f]+\)\n$/);
    expect(stderr).toContain("1 file of 'one' that git does not know stayed behind");
    expect(fleet.read('work.txt')).toBe('work');
    const none = await fleet.swarm('merge', 'plain');
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("'plain' has no worktree") });
  });
});

function plain(fleet: TestFleet, name: string) {
  const words = ['--tmux', '--tmux-socket', fleet.socket];
  return fleet.swarm('spawn', '--name', name, ...words, '--', 'sleep', '600');
}

function windows(fleet: TestFleet): string[] {
  return fleet.tmux('list-windows', '-a', '-F', '#{window_name}').split('\n').filter(Boolean).sort();
}

function edit(fleet: TestFleet, change: (workers: ReturnType<TestFleet['workers']>) => unknown): void {
  const text = JSON.stringify({ workers: change(fleet.workers()) });
  writeFileSync(join(fleet.home, '.swarm', 'state.json'), text);
}
