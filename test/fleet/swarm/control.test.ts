import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive, waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** An agent that ends when the file `go.N` of its iteration is there. */
const obedient = 'touch "ran.$RALPH_ITERATION"; while [ ! -e "go.$RALPH_ITERATION" ]; do sleep 0.05; done';

const ran = (fleet: TestFleet, iteration: number) =>
  waitUntil(() => fleet.exists(`ran.${iteration}`), { ...patience, what: `iteration ${iteration}` });
const noSupervisor = (fleet: TestFleet) =>
  waitUntil(() => fleet.supervisor() === null, { ...patience, what: 'the end of the supervisor' });

/** A tmux that takes its time to start a program anew. */
function putSlowTmux({ bin, path }: TestFleet): void {
  const real = execFileSync('sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
  const slow = `case " $* " in *" respawn-pane "*) touch '${path('respawning')}'; sleep 1 ;; esac`;
  writeFileSync(join(bin, 'tmux'), `#!/bin/sh\n${slow}\nexec '${real}' "$@"\n`, { mode: 0o755 });
}

describe('swarm ralph', { timeout: 120_000 }, () => {
  it('pause ralph loop: the agent goes on, and is not started again', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await ran(fleet, 1);
    const paused = await fleet.swarm('ralph', 'pause', 'agent');
    expect(paused).toMatchObject({ code: 0, stdout: 'paused ralph loop for agent\n', stderr: '' });
    expect(fleet.state('agent').status).toBe('paused');
    expect((await fleet.swarm('status', 'agent')).code).toBe(0);
    fleet.write('go.1', '');
    await waitUntil(() => fleet.log('agent').some((line) => line.startsWith('[END] iteration 1')), patience);
    await noSupervisor(fleet);
    expect(fleet.exists('ran.2')).toBe(false);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 1 });
    expect((await fleet.swarm('status', 'agent')).code).toBe(1);
  });

  it('resume paused ralph loop: goes on with the next number, in the same window', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await ran(fleet, 1);
    await fleet.swarm('ralph', 'pause', 'agent');
    fleet.write('go.1', '');
    await noSupervisor(fleet);
    const resumed = await fleet.swarm('ralph', 'resume', 'agent');
    expect(resumed).toMatchObject({ code: 0, stdout: 'resumed ralph loop for agent\n', stderr: '' });
    await ran(fleet, 2);
    expect(fleet.state('agent')).toMatchObject({ status: 'running', current_iteration: 2 });
    expect(fleet.tmux('list-windows', '-a', '-F', '#{window_name}')).toBe('agent');
  });

  it('resume while the agent of the paused iteration still runs waits for its exit', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await ran(fleet, 1);
    await fleet.swarm('ralph', 'pause', 'agent');
    await fleet.swarm('ralph', 'resume', 'agent');
    expect(fleet.exists('ran.2')).toBe(false);
    fleet.write('go.1', '');
    await ran(fleet, 2);
    expect(fleet.log('agent').filter((line) => line.startsWith('[START]'))).toHaveLength(2);
  });

  it('pausing during backoff ends the wait at once, and resuming keeps the counts', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'touch "ran.$RALPH_ITERATION"; exit 1', '--max-iterations', '20');
    await ran(fleet, 4);
    await waitUntil(() => fleet.state('agent').consecutive_failures === 4, patience);
    await fleet.swarm('ralph', 'pause', 'agent');
    await noSupervisor(fleet);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 4 });
    await fleet.swarm('ralph', 'resume', 'agent');
    expect(await fleet.until('agent', 'failed')).toMatchObject({ current_iteration: 5, total_failures: 5 });
  });

  it('warns where there is nothing to pause or to resume, and refuses what is no loop', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    const resumed = await fleet.swarm('ralph', 'resume', 'agent');
    expect(resumed).toMatchObject({ code: 0, stderr: "swarm: warning: worker 'agent' is not paused\n" });
    await fleet.swarm('ralph', 'pause', 'agent');
    const again = await fleet.swarm('ralph', 'pause', 'agent');
    expect(again).toMatchObject({ code: 0, stderr: "swarm: warning: worker 'agent' is already paused\n" });
    await fleet.swarm('spawn', '--name', 'plain', '--', 'sleep', '600');
    const plain = await fleet.swarm('ralph', 'pause', 'plain');
    expect(plain.code).toBe(1);
    expect(plain.stderr).toContain("swarm: error: worker 'plain' is not a ralph worker\n");
    const missing = await fleet.swarm('ralph', 'status', 'nobody');
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("swarm: error: worker 'nobody' not found\n");
  });

  it('ralph status check: shows how far the loop is', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient, '--max-iterations', '10', '--done-pattern', 'All tasks complete');
    fleet.write('go.1', '');
    await ran(fleet, 2);
    const { code, stdout } = await fleet.swarm('ralph', 'status', 'agent');
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 9)).toEqual([
      'Ralph Loop: agent',
      'Status: running',
      'Iteration: 2/10',
      expect.stringMatching(/^Started: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      expect.stringMatching(/^Current iteration started: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      'Consecutive failures: 0',
      'Total failures: 0',
      'Inactivity timeout: 60s',
      'Done pattern: All tasks complete',
    ]);
  });

  it('lists loops and their iterations', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await fleet.swarm('spawn', '--name', 'plain', '--', 'sleep', '600');
    const json = await fleet.swarm('ralph', 'ls', '--format', 'json');
    expect(JSON.parse(json.stdout)).toEqual([{ ...fleet.state('agent'), end: null }]);
    expect((await fleet.swarm('ralph', 'ls')).stdout).toMatch(/^NAME .*\nagent +running +1\/3/);
    const logs = await fleet.swarm('ralph', 'logs', 'agent', '--lines', '1');
    expect(logs.stdout).toMatch(/^\S+ \[START\] iteration 1\/3\n$/);
  });

  it('killing a worker stops its loop and its agent', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', `echo $$ >pid.txt; ${obedient}`);
    await ran(fleet, 1);
    const killed = await fleet.swarm('kill', 'agent');
    expect(killed).toMatchObject({ code: 0, stdout: 'killed agent\n' });
    expect(fleet.state('agent').status).toBe('stopped');
    expect(fleet.worker('agent').status).toBe('stopped');
    expect(alive(Number(fleet.read('pid.txt')))).toBe(false);
    await noSupervisor(fleet);
    expect(fleet.tmux('list-panes', '-a')).toBe('');
  });

  it('SIGTERM to the supervisor pauses the loops and lets the agents go on', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', `echo $$ >pid.txt; ${obedient}`);
    await ran(fleet, 1);
    const pid = await waitUntil(() => fleet.supervisor(), patience);
    process.kill(pid ?? 0, 'SIGTERM');
    await noSupervisor(fleet);
    expect(fleet.state('agent').status).toBe('paused');
    expect(fleet.log('agent')).toContain('[PAUSE] loop paused reason=sigterm');
    expect(alive(Number(fleet.read('pid.txt')))).toBe(true);
    fleet.write('go.1', '');
    await fleet.swarm('ralph', 'resume', 'agent');
    await ran(fleet, 2);
  });

  it('SIGTERM to a supervisor that has only just begun pauses the loops, too', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    const first = await waitUntil(() => fleet.supervisor(), patience);
    process.kill(first ?? 0, 'SIGKILL');
    await noSupervisor(fleet);
    const reviving = fleet.swarm('ls');
    const second = await waitUntil(() => pidSoon(fleet), patience);
    process.kill(second ?? 0, 'SIGTERM');
    await reviving;
    await noSupervisor(fleet);
    expect(fleet.state('agent').status).toBe('paused');
  });

  it('SIGTERM while an iteration starts waits for the start, and then pauses', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await fleet.loop('other', 'while [ ! -e never ]; do sleep 0.1; done');
    await ran(fleet, 1);
    const pid = await waitUntil(() => fleet.supervisor(), patience);
    putSlowTmux(fleet);
    fleet.write('go.1', '');
    await waitUntil(() => fleet.exists('respawning'), { ...patience, what: 'the start of iteration 2' });
    process.kill(pid ?? 0, 'SIGTERM');
    await noSupervisor(fleet);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 2 });
    expect(fleet.state('other').status).toBe('paused');
    await ran(fleet, 2);
  });

  it('a supervisor that is gone is started again by any command that comes by', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await ran(fleet, 1);
    process.kill((await waitUntil(() => fleet.supervisor(), patience)) ?? 0, 'SIGKILL');
    await noSupervisor(fleet);
    fleet.write('go.1', '');
    await fleet.swarm('ls');
    await ran(fleet, 2);
  });

  it('a window that somebody closed is noticed, and the loop goes on', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient, '--max-iterations', '2');
    await ran(fleet, 1);
    const isSeen = () => fleet.events('agent').some(({ type }) => type === 'screen');
    await waitUntil(isSeen, { ...patience, what: 'a look of the supervisor' });
    fleet.tmux('kill-window', '-t', 'agent');
    await ran(fleet, 2);
    expect(fleet.log('agent')).toContain('[FAIL] iteration 1 exit=unknown attempt=1/5 backoff=1s');
  });

  it('a loop whose files are removed is left alone', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', obedient);
    await ran(fleet, 1);
    rmSync(join(fleet.home, '.swarm/ralph/agent'), { recursive: true });
    fleet.write('go.1', '');
    await noSupervisor(fleet);
    expect(fleet.exists('ran.2')).toBe(false);
    expect(existsSync(join(fleet.home, '.swarm/ralph/agent/state.json'))).toBe(false);
  });
});

/** Looks without a pause for some milliseconds, so as to see the lock of a supervisor as soon as it is there. */
function pidSoon(fleet: TestFleet): number | null {
  for (let look = 0; look < 500; look++) {
    const pid = fleet.supervisor();
    if (pid !== null) return pid;
  }
  return null;
}

describe('swarm ralph init', () => {
  it('initialize prompt file, refuse to overwrite, and overwrite with --force', async () => {
    const fleet = makeFleet({ files: {}, git: false });
    const template = (await fleet.swarm('ralph', 'template')).stdout;
    expect(template).toMatch(/^study specs\/README\.md\nstudy CLAUDE\.md and pick the most important/);
    expect(template.trimEnd().split('\n')).toHaveLength(10);
    expect(fleet.exists('PROMPT.md')).toBe(false);
    expect(await fleet.swarm('ralph', 'init')).toMatchObject({ code: 0, stdout: 'created PROMPT.md\n' });
    expect(fleet.read('PROMPT.md')).toBe(template);
    fleet.write('PROMPT.md', 'mine');
    const refused = await fleet.swarm('ralph', 'init');
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'swarm: error: PROMPT.md already exists (use --force to overwrite)\n',
    });
    expect(fleet.read('PROMPT.md')).toBe('mine');
    const forced = await fleet.swarm('ralph', 'init', '--force');
    expect(forced).toMatchObject({ code: 0, stdout: 'created PROMPT.md (overwritten)\n' });
  });
});
