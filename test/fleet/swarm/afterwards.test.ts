import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** A tmux that opens no more windows. */
function breakTmux({ bin }: TestFleet): void {
  const real = execFileSync('sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
  const broken = 'case " $* " in *" new-window "*|*" new-session "*) echo "no room" >&2; exit 1 ;; esac';
  writeFileSync(join(bin, 'tmux'), `#!/bin/sh\n${broken}\nexec '${real}' "$@"\n`, { mode: 0o755 });
}

const sleeper = 'touch "ran.$RALPH_ITERATION"; sleep 600';
const file = (fleet: TestFleet, ...parts: string[]) => join(fleet.home, '.swarm', ...parts);
const noSupervisor = (fleet: TestFleet) =>
  waitUntil(() => fleet.supervisor() === null, { ...patience, what: 'the end of the supervisor' });

describe('a worker that is over', { timeout: 120_000 }, () => {
  it('makes room for one of the same name after a kill, and not before', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', sleeper);
    const early = await fleet.loop('agent', sleeper, '--max-iterations', '200');
    expect(early.code).toBe(1);
    expect(early.stderr).toContain("swarm: error: worker 'agent' already exists\n");
    await fleet.swarm('ralph', 'pause', 'agent');
    await fleet.swarm('kill', 'agent');
    const again = await fleet.loop('agent', sleeper, '--max-iterations', '20');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(fleet.state('agent')).toMatchObject({ status: 'running', max_iterations: 20 });
    expect(fleet.log('agent')).toEqual(['[START] iteration 1/20']);
    expect(fleet.workers()).toHaveLength(1);
  });

  it('keeps its name as long as it has a worktree', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'tree', '--worktree', '--', 'sleep', '600');
    await fleet.swarm('kill', 'tree');
    const again = await fleet.swarm('spawn', '--name', 'tree', '--', 'sleep', '600');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('swarm clean tree');
  });

  it('whose worktree was removed with it has none on record, and gets it back when it is respawned', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'tree', '--worktree', '--', 'sleep', '600');
    const { path = '' } = fleet.worker('tree').worktree ?? {};
    await fleet.swarm('kill', 'tree', '--rm-worktree');
    expect((await fleet.swarm('ls')).stdout).not.toContain(path);
    expect((await fleet.swarm('doctor')).stdout).toContain('all is well');
    expect((await fleet.swarm('respawn', 'tree')).code).toBe(0);
    expect([existsSync(path), fleet.worker('tree').worktree?.removed]).toEqual([true, undefined]);
    await fleet.swarm('kill', 'tree', '--rm-worktree');
    expect((await fleet.swarm('spawn', '--name', 'tree', '--', 'sleep', '600')).code).toBe(0);
    expect(fleet.worker('tree').worktree).toBe(null);
  });

  it('is not over while its loop is paused', async () => {
    const fleet = makeFleet();
    await fleet.loop('pz', 'exit 1', '--max-iterations', '9');
    await waitUntil(() => fleet.state('pz').consecutive_failures === 2, patience);
    await fleet.swarm('ralph', 'pause', 'pz');
    await noSupervisor(fleet);
    const all = await fleet.swarm('clean', '--all');
    expect(all).toMatchObject({ code: 0, stdout: '', stderr: "swarm: warning: skipping 'pz' (paused)\n" });
    const one = await fleet.swarm('clean', 'pz');
    expect(one.code).toBe(1);
    expect(one.stderr).toContain("cannot clean paused worker 'pz'");
    expect(one.stderr).toContain('swarm kill pz');
    expect(fleet.state('pz').status).toBe('paused');
  });

  it('leaves its state and its log behind when it is cleaned, and nothing else', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'exit 0', '--max-iterations', '1');
    await fleet.until('agent', 'stopped');
    await noSupervisor(fleet);
    const resumed = await fleet.swarm('ralph', 'resume', 'agent');
    expect(resumed.code).toBe(1);
    expect(resumed.stderr).toContain("worker 'agent' is not paused\n");
    expect((await fleet.swarm('clean', 'agent')).stdout).toBe('cleaned agent\n');
    expect(fleet.workers()).toEqual([]);
    expect(fleet.state('agent').status).toBe('stopped');
    expect(fleet.log('agent').at(-1)).toBe('[DONE] loop complete after 1 iteration reason=max_iterations');
    expect(existsSync(file(fleet, 'ralph/agent/loop.json'))).toBe(false);
    expect((await fleet.swarm('doctor')).code).toBe(0);
  });

  it('tells how to remove the worktree that its cleaning has spared', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'dirty', '--worktree', '--', 'sleep', '600');
    const { path = '', base_repo } = fleet.worker('dirty').worktree ?? {};
    writeFileSync(join(path, 'new.txt'), 'work');
    await fleet.swarm('kill', 'dirty');
    const { stderr } = await fleet.swarm('clean', 'dirty');
    expect(stderr).toContain(`git -C '${base_repo}' worktree remove --force '${path}'\n`);
    expect(existsSync(path)).toBe(true);
  });

  it('leaves no log files if it could not start', async () => {
    const fleet = makeFleet();
    expect((await fleet.swarm('spawn', '--name', 'none', '--', '/nowhere/x')).code).toBe(1);
    expect(existsSync(file(fleet, 'logs/none.stdout.log'))).toBe(false);
    expect(existsSync(file(fleet, 'logs/none.stderr.log'))).toBe(false);
  });
});

describe('a loop', { timeout: 120_000 }, () => {
  it('whose files are gone counts as running while its agent does', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', sleeper);
    await waitUntil(() => fleet.exists('ran.1'), patience);
    rmSync(file(fleet, 'ralph/agent'), { recursive: true });
    await noSupervisor(fleet);
    expect((await fleet.swarm('status', 'agent')).code).toBe(0);
    const status = await fleet.swarm('ralph', 'status', 'agent');
    expect(status.code).toBe(1);
    expect(status.stderr).toContain("swarm: error: the loop of 'agent' is gone\n");
    expect((await fleet.swarm('kill', 'agent')).code).toBe(0);
    expect((await fleet.swarm('status', 'agent')).code).toBe(1);
  });

  it('is in the log of the supervisor from its first iteration on, and a person is told of its end', async () => {
    const write =
      "require('fs').writeFileSync('notice.txt', process.env.RALPH_NOTICE_KIND + ' ' + process.env.RALPH_NOTICE_TITLE)";
    const fleet = makeFleet({
      files: { 'PROMPT.md': 'Do the task.\n' },
      settings: { notify: { command: ['node', '-e', write] } },
    });
    await fleet.loop(
      'agent',
      'echo "All complete"; sleep 600',
      '--done-pattern',
      'All complete',
      '--check-done-continuous',
    );
    await fleet.until('agent', 'stopped');
    await noSupervisor(fleet);
    expect(fleet.read('notice.txt')).toBe('done ralph: agent done');
    const lines = readFileSync(file(fleet, 'supervisor.log'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      '[ralph] agent: starting iteration 1/3',
      '[ralph] agent: done pattern matched, stopping loop',
    ]);
  });
});

describe('a worker that cannot be started anew', { timeout: 120_000 }, () => {
  it('goes on as it is when that is known before', async () => {
    const fleet = makeFleet();
    await fleet.swarm('spawn', '--name', 'bg', '--', 'sleep', '600');
    const { pid } = fleet.worker('bg');
    const replaced = await fleet.swarm('spawn', '--name', 'bg', '--replace', '--', '/nowhere/x');
    expect(replaced.code).toBe(1);
    expect(fleet.worker('bg')).toMatchObject({ pid, status: 'running' });
    expect((await fleet.swarm('status', 'bg')).code).toBe(0);

    await fleet.loop('agent', sleeper);
    rmSync(fleet.path('PROMPT.md'));
    const respawned = await fleet.swarm('respawn', 'agent');
    expect(respawned.code).toBe(1);
    expect(respawned.stderr).toContain('prompt file not found');
    expect(fleet.state('agent').status).toBe('running');
    expect((await fleet.swarm('status', 'agent')).code).toBe(0);
  });

  it('stays on the list with its worktree and its history', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'exit 0', '--max-iterations', '2', '--worktree');
    await fleet.until('agent', 'stopped');
    await noSupervisor(fleet);
    const before = { worker: fleet.worker('agent'), log: fleet.log('agent'), events: fleet.events('agent') };
    breakTmux(fleet);
    const respawned = await fleet.swarm('respawn', 'agent');
    expect(respawned.code).toBe(1);
    expect(respawned.stderr).toContain('failed to create tmux window: no room');
    const after = { worker: fleet.worker('agent'), log: fleet.log('agent'), events: fleet.events('agent') };
    expect(after).toEqual(before);
    expect(fleet.state('agent')).toMatchObject({ status: 'stopped', current_iteration: 2 });
    rmSync(join(fleet.bin, 'tmux'));
    expect((await fleet.swarm('respawn', 'agent')).code).toBe(0);
  });
});
