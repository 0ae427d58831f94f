import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { type Turns, work } from '../../support/agent.ts';
import { alive, waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

const pattern = ['--done-pattern', 'All tasks (complete|done)'];
const quick = ['--max-iterations', '2', '--wait'];

describe('a loop that runs out of iterations', { timeout: 120_000 }, () => {
  it('is not done if its pattern never came, and every view says so', async () => {
    const fleet = makeFleet();
    const spawned = await fleet.loop('agent', 'cat >/dev/null; echo working', ...pattern, ...quick);
    expect(spawned.code).toBe(1);
    expect(spawned.stdout).toContain('[ralph] agent: loop not done after 2 iterations\n');
    expect(fleet.log('agent').at(-1)).toBe('[FAIL] loop not done after 2 iterations reason=max_iterations');
    expect(fleet.state('agent').status).toBe('stopped');
    expect(fleet.events('agent').at(-1)).toMatchObject({
      type: 'unfinished',
      outcome: 'MAX_ITERATIONS_REACHED',
    });
    const because = 'not done (2 iterations are used up)';
    expect(await fleet.swarm('wait', 'agent')).toMatchObject({
      code: 1,
      stdout: `agent: exited, ${because}\n`,
    });
    const shown = async (...words: string[]) => (await fleet.swarm(...words)).stdout;
    expect(await shown('ralph', 'status', 'agent')).toContain(`\nWhy: ${because}\n`);
    expect(await shown('ralph', 'ls')).toContain(`  ${because}\n`);
    expect(await shown('why', 'agent')).toMatch(
      /^agent: not done \(2 iterations are used up\), for \d+s, iteration 2\/2\n {2}next: swarm respawn agent\n/,
    );
    expect(await shown('top', '--once')).toContain(because);
    expect(await shown('ls')).toMatch(/^agent +not done /m);
    expect(await shown('status', 'agent')).toMatch(
      /^agent: stopped \(not done, iteration 2\/2, tmux window /,
    );
    const end = { outcome: 'MAX_ITERATIONS_REACHED', because: { code: 'max-iterations' }, exitCode: 1 };
    expect(JSON.parse(await shown('ls', '--format', 'json'))).toMatchObject([{ status: 'stopped', end }]);
    expect(JSON.parse(await shown('ralph', 'ls', '--format', 'json'))).toMatchObject([{ end }]);
  });

  it('is complete if it had nothing to reach', async () => {
    const fleet = makeFleet();
    const spawned = await fleet.loop('agent', 'cat >/dev/null', ...quick);
    expect(spawned.code).toBe(0);
    expect(await fleet.swarm('wait', 'agent')).toMatchObject({
      code: 0,
      stdout: 'agent: exited, done (loop complete after 2 iterations)\n',
    });
    expect((await fleet.swarm('ls')).stdout).toMatch(/^agent +done /m);
  });

  it('says that its last iteration failed, also if it had nothing to reach', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'cat >/dev/null; [ -e once ] && exit 3; touch once', ...quick);
    expect(await fleet.swarm('wait', 'agent')).toMatchObject({
      code: 0,
      stdout: 'agent: exited, done (2 iterations are used up; the last one failed: exit code 3)\n',
    });
  });

  it('is not done if somebody cut down its iterations meanwhile', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'cat >/dev/null; until [ -e go ]; do sleep 0.05; done', ...pattern);
    await fleet.swarm('ralph', 'pause', 'agent');
    fleet.write('go', '');
    await waitUntil(() => fleet.supervisor() === null, patience);
    writeFileSync(
      join(fleet.home, '.swarm/ralph/agent/state.json'),
      JSON.stringify({ ...fleet.state('agent'), max_iterations: 1 }),
    );
    await fleet.swarm('ralph', 'resume', 'agent');
    expect((await fleet.swarm('wait', 'agent')).code).toBe(1);
    expect(fleet.log('agent').at(-1)).toBe('[FAIL] loop not done after 1 iteration reason=max_iterations');
  });
});

describe('swarm wait', { timeout: 120_000 }, () => {
  it('with --all ends with 0 only if all loops on the list are done', async () => {
    const fleet = makeFleet();
    await fleet.loop('a-done', 'cat >/dev/null; echo "All tasks complete"', ...pattern);
    await fleet.loop('b-not', 'cat >/dev/null', ...pattern, '--max-iterations', '1');
    await fleet.loop('c-failed', 'exit 4', '--max-iterations', '9');
    await fleet.until('b-not', 'stopped');
    const waited = await fleet.swarm('wait', '--all');
    // The first in the list that is not done, though another failed later.
    expect(waited.code).toBe(1);
    expect(waited.stdout).toContain('b-not: exited, not done (1 iteration is used up)\n');
    expect(waited.stdout).toContain('c-failed: exited, failed (5 failed turns in a row)\n');
    expect((await fleet.swarm('wait', 'c-failed')).code).toBe(3);
    for (const name of ['b-not', 'c-failed']) await fleet.swarm('clean', name);
    expect(await fleet.swarm('wait', '--all')).toMatchObject({ code: 0, stdout: '' });
  });

  it('ends with 130 for a loop that somebody killed', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'cat >/dev/null; sleep 600', ...pattern);
    const waiting = fleet.start('wait', 'agent');
    await fleet.swarm('kill', 'agent');
    expect(await waiting.done).toMatchObject({ code: 130, stdout: 'agent: exited, stopped\n' });
  });
});

describe('a loop with the checks of ralph run', { timeout: 120_000 }, () => {
  async function spawnEngine(turns: Turns, ...options: string[]) {
    const fleet = makeFleet();
    await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns } });
    const words = ['--name', 'agent', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '2'];
    const place = ['--tmux-socket', fleet.socket];
    const spawned = await fleet.swarm('spawn', ...words, ...place, ...options, '--wait', '--', 'claude');
    return { fleet, spawned };
  }

  it('always has something to reach: without an accepted claim it is not done', async () => {
    const { fleet, spawned } = await spawnEngine([{ steps: [work, { text: 'more' }] }], '--run');
    expect(spawned.code).toBe(1);
    expect((await fleet.swarm('wait', 'agent')).stdout).toContain('not done (2 iterations are used up)');
  });

  it('ends with 4 for whoever waits when the agent asks for a human, and goes on after the answer', async () => {
    const blocked = { steps: [work, { text: '<promise>BLOCKED: no access to the database</promise>' }] };
    const done = { steps: [work, { text: '<promise>DONE</promise>' }] };
    const { fleet, spawned } = await spawnEngine([blocked, done], '--completion-promise', 'DONE');
    expect(spawned.code).toBe(4);
    expect(await fleet.swarm('wait', 'agent')).toMatchObject({
      code: 4,
      stdout: 'agent: needs you: waits for your answer (no access to the database)\n',
    });
    await fleet.swarm('ralph', 'resume', 'agent');
    expect(await fleet.swarm('wait', 'agent')).toMatchObject({
      code: 0,
      stdout: 'agent: exited, done (passed: turn, tool-calls)\n',
    });
  });
});

describe('the done pattern', { timeout: 120_000 }, () => {
  const says = 'cat >/dev/null; echo "All tasks complete"';
  const ended = (fleet: TestFleet) => fleet.until('agent', 'stopped', 'failed');

  it('lets an agent that printed it finish its iteration', async () => {
    const fleet = makeFleet();
    const script = `${says}; until [ "$(grep -c look seen.txt)" = 1 ]; do sleep 0.05; done; echo pushed >pushed.txt`;
    fleet.write('seen.txt', '');
    await fleet.loop('agent', script, ...pattern);
    await waitUntil(() => fleet.tmux('capture-pane', '-p', '-t', 'agent').includes('All tasks'), patience);
    // Long enough for many looks at the screen.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(fleet.state('agent').status).toBe('running');
    fleet.write('seen.txt', 'look\n');
    expect(await ended(fleet)).toMatchObject({ status: 'stopped', current_iteration: 1 });
    expect(fleet.read('pushed.txt')).toBe('pushed\n');
    expect(fleet.log('agent').slice(1)).toEqual([
      expect.stringMatching(/^\[END\] iteration 1 exit=0 duration=\d+s$/),
      '[DONE] loop complete after 1 iteration reason=done_pattern',
    ]);
  });

  it('is looked for on the screen of an agent that fell silent, before that is ended', async () => {
    const fleet = makeFleet();
    // A screen of its own goes with the program.
    const script = [
      'cat >/dev/null; echo $$ >pid.txt; printf "\\033[?1049h"',
      'leave() { printf "\\033[?1049l"; exit 0; }; trap leave TERM',
      'echo "All tasks complete"; sleep 600 & wait',
    ].join('\n');
    await fleet.loop('agent', script, ...pattern, '--inactivity-timeout', '1');
    expect(await ended(fleet)).toMatchObject({ status: 'stopped', current_iteration: 1 });
    expect(fleet.log('agent').slice(1)).toEqual([
      '[TIMEOUT] iteration 1 inactivity_timeout=1s',
      '[DONE] loop complete after 1 iteration reason=done_pattern',
    ]);
    await waitUntil(() => !alive(Number(fleet.read('pid.txt'))), patience);
  });

  it('does not count if it is gone from the output when the iteration ends', async () => {
    const fleet = makeFleet();
    const script = `${says}; until [ -e go ]; do sleep 0.05; done; printf "\\033[2J\\033[3J\\033[H"; echo "one is left"`;
    await fleet.loop('agent', script, ...pattern, '--max-iterations', '1');
    await waitUntil(() => fleet.tmux('capture-pane', '-p', '-t', 'agent').includes('All tasks'), patience);
    fleet.write('go', '');
    await ended(fleet);
    expect((await fleet.swarm('wait', 'agent')).code).toBe(1);
  });

  it('ends the agent at the first match with --check-done-continuous', async () => {
    const fleet = makeFleet();
    const script = `${says}; echo $$ >pid.txt; sleep 600`;
    const spawned = await fleet.loop('agent', script, ...pattern, '--check-done-continuous', '--wait');
    expect(spawned.code).toBe(0);
    expect(spawned.stdout).toContain('[ralph] agent: done pattern matched, stopping loop\n');
    expect(fleet.log('agent').slice(1)).toEqual([
      expect.stringMatching(/^\[END\] iteration 1 exit=unknown duration=\d+s$/),
      '[DONE] loop complete after 1 iteration reason=done_pattern',
    ]);
    await waitUntil(() => !alive(Number(fleet.read('pid.txt'))), patience);
  });

  it('cannot be watched for where ralph run reads the turns', async () => {
    const fleet = makeFleet();
    const words = ['--name', 'a', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '2', '--run'];
    const refused = await fleet.swarm('spawn', ...words, '--check-done-continuous', '--', 'claude');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--check-done-continuous');
    expect(fleet.workers()).toEqual([]);
  });
});
