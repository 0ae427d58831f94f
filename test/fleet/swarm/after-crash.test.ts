import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

const counts = 'echo "$RALPH_ITERATION" >>started.txt; sleep 600';
const lost = 'the window was lost in a crash: iteration 1 starts again';

/** Ends the supervisor and all windows, as a crash of the machine does. */
async function crash(fleet: TestFleet): Promise<void> {
  await waitUntil(() => fleet.exists('started.txt'), { ...patience, what: 'the agent' });
  const pid = await waitUntil(() => fleet.supervisor(), patience);
  process.kill(pid ?? 0, 'SIGKILL');
  fleet.tmux('kill-server');
}

describe('a loop after a crash', { timeout: 120_000 }, () => {
  it('is resumed with its iteration, which counts as no failure, and the command says so', async () => {
    const fleet = makeFleet();
    await fleet.loop('a', counts, '--inactivity-timeout', '600');
    await crash(fleet);
    const { stdout } = await fleet.swarm('ralph', 'resume', 'a');
    expect(stdout).toBe(`resumed ralph loop for a: ${lost}\n`);
    await waitUntil(() => fleet.read('started.txt') === '1\n1\n', { ...patience, what: 'the second start' });
    expect(fleet.state('a')).toMatchObject({ status: 'running', current_iteration: 1, total_failures: 0 });
    expect(fleet.eventTexts('a')).toContain(`resumed: ${lost}`);
  });

  it('goes on in the same way when any other command comes first', async () => {
    const fleet = makeFleet();
    await fleet.loop('a', counts, '--inactivity-timeout', '600');
    await crash(fleet);
    await fleet.swarm('ls');
    await waitUntil(() => fleet.read('started.txt') === '1\n1\n', { ...patience, what: 'the second start' });
    expect(fleet.state('a')).toMatchObject({ current_iteration: 1, total_failures: 0 });
    expect(fleet.eventTexts('a')).toContain(lost);
  });

  it('whose record is torn is read from its state, which is said, and the torn record is kept', async () => {
    const fleet = makeFleet();
    await fleet.loop('a', 'exit 0', '--max-iterations', '1');
    await fleet.until('a', 'stopped');
    await waitUntil(() => fleet.supervisor() === null, patience);
    const record = join(fleet.home, '.swarm/ralph/a/loop.json');
    writeFileSync(record, '{"v":1,"name":"a","sta');
    const warning = `swarm: warning: the record of 'a' was damaged, and the loop was read from state.json: it is kept as ${record}.bad-1\n`;
    for (const words of [['status', 'a'], ['ralph', 'status', 'a'], ['why', 'a'], ['ralph', 'ls'], ['ls']]) {
      expect((await fleet.swarm(...words)).stderr).toBe(warning);
    }
    expect(readFileSync(`${record}.bad-1`, 'utf8')).toBe('{"v":1,"name":"a","sta');
    writeFileSync(join(fleet.home, '.swarm/ralph/a/state.json'), '{');
    expect((await fleet.swarm('ralph', 'status', 'a')).stderr).toContain(
      `and so is state.json: it is kept as ${record}.bad-1`,
    );
  });
});

describe('SIGTERM to the supervisor', { timeout: 120_000 }, () => {
  it('pauses all loops at once, though tmux does not answer', async () => {
    const fleet = makeFleet();
    await fleet.loop('a', 'while :; do date +%N; sleep 0.1; done');
    await fleet.loop('b', 'sleep 600', '--inactivity-timeout', '600');
    const pid = (await waitUntil(() => fleet.supervisor(), patience)) ?? 0;
    const isSeen = (name: string) => fleet.events(name).some(({ type }) => type === 'screen');
    await waitUntil(() => ['a', 'b'].every(isSeen), { ...patience, what: 'a look at the screens' });
    const server = Number(fleet.tmux('display-message', '-p', '#{pid}'));
    process.kill(server, 'SIGSTOP');
    onTestFinished(() => void process.kill(server, 'SIGCONT'));
    const waits = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '';
    await waitUntil(waits, { ...patience, what: 'a call to tmux that gets no answer' });
    process.kill(pid, 'SIGTERM');
    // Shorter than the time that the supervisor gives tmux to answer.
    const soon = { timeoutMs: 10_000, what: 'the pause' };
    await waitUntil(() => ['a', 'b'].every((name) => fleet.state(name).status === 'paused'), soon);
    // Whatever kills it now finds the loops paused.
    process.kill(pid, 'SIGKILL');
    expect(fleet.log('b').at(-1)).toBe('[PAUSE] loop paused reason=sigterm');
    process.kill(server, 'SIGCONT');
  });
});

describe('a worker that is over', { timeout: 120_000 }, () => {
  it('has the time that it ran, and no uptime', async () => {
    const fleet = makeFleet();
    await fleet.loop('a', 'exit 0', '--max-iterations', '1');
    await fleet.until('a', 'stopped');
    await waitUntil(
      async () => /^a: stopped \(.*, ran \d+s\)\n$/.test((await fleet.swarm('status', 'a')).stdout),
      {
        ...patience,
        what: 'the status',
      },
    );
    await fleet.swarm('spawn', '--name', 'plain', '--tmux', '--tmux-socket', fleet.socket, '--', 'true');
    await fleet.swarm('wait', 'plain');
    expect((await fleet.swarm('status', 'plain')).stdout).not.toContain('uptime');
    expect(existsSync(join(fleet.home, '.swarm/ralph/plain'))).toBe(false);
  });
});
