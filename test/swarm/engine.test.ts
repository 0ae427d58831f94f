import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LoopRecord, readLoop } from '../../src/store/fleet-loops.ts';
import { readJournal } from '../../src/store/journal.ts';
import { runPaths } from '../../src/store/paths.ts';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { show, type Turns, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

const done = { steps: [work, { text: '<promise>DONE</promise>' }] };
/** Works until there is a file `go`. */
const slow = {
  steps: [work, { shell: 'touch began; while [ ! -e go ]; do sleep 0.05; done' }, { text: 'more' }],
};
const claim = { steps: [{ text: '<promise>DONE</promise>' }] };

async function fleetWith(turns: Turns, settings: object = {}) {
  const fleet = makeFleet({ files: { 'PROMPT.md': 'Do the task.\n' }, settings });
  const agent = await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns } });
  return { ...fleet, agent };
}

const events = (fleet: TestFleet, run: string) => readJournal(runPaths(fleet.cwd, run).journal).events;

function record(fleet: TestFleet, name: string): LoopRecord {
  const loop = readLoop({ SWARM_HOME: join(fleet.home, '.swarm') }, name);
  if (loop === null) throw new Error(`no loop ${name}`);
  return loop;
}

const spawn = (fleet: TestFleet, ...options: string[]) =>
  fleet.swarm(
    ...['spawn', '--name', 'agent', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '5'],
    ...[
      '--tmux-socket',
      fleet.socket,
      '--completion-promise',
      'DONE',
      ...options,
      '--',
      'claude',
      '--model',
      'opus 4',
    ],
  );

async function pauseAfterFirst(fleet: TestFleet): Promise<void> {
  await spawn(fleet);
  await waitUntil(() => fleet.exists('began'), patience);
  await fleet.swarm('ralph', 'pause', 'agent');
  fleet.write('go', '');
  await waitUntil(() => fleet.supervisor() === null, patience);
}

describe('a loop with the checks of ralph run', { timeout: 120_000 }, () => {
  it('believes a claim only with evidence, and keeps one journal over all iterations', async () => {
    const fleet = await fleetWith([claim, { steps: [work, { text: 'not yet' }] }, done], {
      guardrails: [{ command: 'test -e work.txt' }],
    });
    expect((await spawn(fleet, '--verify', 'test -e work.txt')).code).toBe(0);
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({
      status: 'stopped',
      current_iteration: 3,
      total_failures: 0,
    });
    const calls = await fleet.agent.calls();
    expect(calls.map(({ env }) => env.RALPH_ITERATION)).toEqual(['1', '2', '3']);
    for (const { argv } of calls) expect(argv.join('|')).toContain('--model|opus 4');
    const run = await show(fleet);
    expect(run.verdicts.map(({ iteration, accepted }) => [iteration, accepted])).toEqual([
      [1, false],
      [3, true],
    ]);
    expect(fleet.log('agent').at(-1)).toBe('[DONE] loop complete after 3 iterations reason=claim_accepted');
  });

  it('is paused between two iterations and goes on with the same run', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 1 });
    await fleet.swarm('ralph', 'resume', 'agent');
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({ current_iteration: 2 });
    expect(await show(fleet)).toMatchObject({ outcome: 'PROMISE_ACCEPTED' });
  });

  it('waits for a human when the agent asks for one', async () => {
    const blocked = { steps: [work, { text: '<promise>BLOCKED: no access to the database</promise>' }] };
    const fleet = await fleetWith([blocked]);
    await spawn(fleet);
    await fleet.until('agent', 'paused', 'failed');
    expect(fleet.log('agent').at(-1)).toBe('[PAUSE] loop paused: no access to the database');
    const { stdout } = await fleet.swarm('ralph', 'status', 'agent');
    expect(stdout).toContain('Why: waits for your answer (no access to the database)\n');
    expect(await show(fleet)).toMatchObject({ outcome: 'BLOCKED', exitCode: 4 });
    expect(fleet.read('.ralph/blocked.txt')).toBe('no access to the database\n');
  });

  it('ends when the budget is spent', async () => {
    const fleet = await fleetWith([{ steps: [work, { text: 'more' }] }]);
    await spawn(fleet, '--max-tokens', '1');
    await fleet.until('agent', 'failed');
    expect(fleet.log('agent').at(-1)).toMatch(/^\[FAIL\] loop failed: .*token/);
  });

  it('counts a killed ralph run as one failed turn of the run, and goes on from there', async () => {
    const fleet = await fleetWith([slow, done]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    const { run } = await show(fleet);
    const [started] = events(fleet, run);
    process.kill(started?.type === 'run.started' ? started.pid : 0, 'SIGKILL');
    await waitUntil(() => fleet.state('agent').consecutive_failures === 1, patience);
    expect(await show(fleet)).toMatchObject({ outcome: null, state: 'yielded' });
    expect(fleet.eventTexts('agent')).toContain(
      'iteration 1 failed (exit: 137), retrying in 1s (attempt 1/5)',
    );
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({
      current_iteration: 2,
      consecutive_failures: 0,
      total_failures: 1,
    });
    expect(await show(fleet)).toMatchObject({ run, outcome: 'PROMISE_ACCEPTED', iterations: 2 });
    const decisions = events(fleet, run).flatMap((event) => (event.type === 'decision' ? [event] : []));
    expect(decisions.map(({ iteration, kind, because }) => [iteration, kind, because.text])).toEqual([
      [1, 'wait', 'the turn ended as failed: ralph run died with exit code 137'],
      [2, 'stop', expect.any(String)],
    ]);
  });

  it('counts a window that somebody killed as one failed turn, and goes on from there', async () => {
    const fleet = await fleetWith([slow, done]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    fleet.tmux('kill-window', '-t', 'agent');
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({
      current_iteration: 2,
      total_failures: 1,
    });
    expect(fleet.eventTexts('agent').join('\n')).toContain('iteration 1 failed (window lost)');
    expect(await show(fleet)).toMatchObject({ outcome: 'PROMISE_ACCEPTED', iterations: 2 });
  });

  it('ends when somebody stops its run, and not as one that failed', async () => {
    const fleet = await fleetWith([slow, done]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    expect((await runRalph(['stop'], fleet)).code).toBe(0);
    fleet.write('go', '');
    await fleet.until('agent', 'stopped', 'failed');
    expect(record(fleet, 'agent')).toMatchObject({
      status: 'stopped',
      iteration: 1,
      end: { outcome: 'CANCELLED', exitCode: 130 },
    });
    expect(await show(fleet)).toMatchObject({ outcome: 'CANCELLED', iterations: 1 });
  });

  it('ends without another try when its run cannot begin', async () => {
    const fleet = await fleetWith([done], { maxFailures: 'six' });
    await spawn(fleet);
    await fleet.until('agent', 'stopped', 'failed');
    const { status, iteration, totalFailures, end } = record(fleet, 'agent');
    expect({ status, iteration, totalFailures }).toEqual({
      status: 'failed',
      iteration: 0,
      totalFailures: 0,
    });
    expect(end).toMatchObject({ outcome: 'AGENT_FAILED', exitCode: 2, because: { code: 'not-started' } });
    expect(end?.because.text).toContain('maxFailures');
    expect(fleet.exists('.ralph/runs')).toBe(false);
  });

  it('ends without another try when its run cannot go on, and the journal says why', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    fleet.write('.ralph/settings.json', '{');
    await fleet.swarm('ralph', 'resume', 'agent');
    await fleet.until('agent', 'stopped', 'failed');
    const { iteration, end } = record(fleet, 'agent');
    expect({ iteration, end }).toMatchObject({ iteration: 1, end: { outcome: 'AGENT_FAILED', exitCode: 2 } });
    expect(end?.because.text).toContain('settings.json');
    expect(await show(fleet)).toMatchObject({
      outcome: 'AGENT_FAILED',
      exitCode: 2,
      because: end?.because.text,
      iterations: 1,
    });
  });

  it('has its end in the journal when somebody stops it, while it runs or between two iterations', async () => {
    for (const turns of [[slow], [{ steps: [work], exitCode: 1 }]]) {
      const fleet = await fleetWith(turns);
      await spawn(fleet);
      await waitUntil(() => fleet.exists('began') || record(fleet, 'agent').failures > 1, patience);
      await fleet.swarm('ralph', 'stop', 'agent');
      const { end } = record(fleet, 'agent');
      expect(end).toMatchObject({ outcome: 'CANCELLED', exitCode: 130 });
      const { run, ...shown } = await show(fleet);
      expect(shown).toMatchObject({ outcome: 'CANCELLED', exitCode: 130, because: end?.because.text });
      expect(events(fleet, run).filter(({ type }) => type === 'run.abandoned')).toEqual([]);
    }
  });

  it('has its end in the journal when somebody lowers the maximum below what ran', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    expect(await show(fleet)).toMatchObject({ outcome: null, state: 'yielded' });
    const file = join(fleet.home, '.swarm/ralph/agent/state.json');
    writeFileSync(file, JSON.stringify({ ...fleet.state('agent'), max_iterations: 1 }));
    await fleet.swarm('ralph', 'resume', 'agent');
    await fleet.until('agent', 'stopped', 'failed');
    const because = record(fleet, 'agent').end?.because.text;
    expect(await show(fleet)).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', because, iterations: 1 });
  });

  it('is refused for a command that ralph run does not know', async () => {
    const fleet = makeFleet();
    const refused = await fleet.loop('x', 'true', '--verify', 'true');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('is no agent that ralph run knows');
  });
});
