import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { show, type Turns, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

const done = { steps: [work, { text: '<promise>DONE</promise>' }] };
const claim = { steps: [{ text: '<promise>DONE</promise>' }] };

async function fleetWith(turns: Turns, settings: object = {}) {
  const fleet = makeFleet({ files: { 'PROMPT.md': 'Do the task.\n' }, settings });
  const agent = await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns } });
  return { ...fleet, agent };
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
    const slow = { steps: [work, { shell: 'while [ ! -e go ]; do sleep 0.05; done' }, { text: 'more' }] };
    const fleet = await fleetWith([slow, done]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('work.txt'), patience);
    await fleet.swarm('ralph', 'pause', 'agent');
    fleet.write('go', '');
    await waitUntil(() => fleet.supervisor() === null, patience);
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

  it('ends as one whose iterations ran out, and nobody stopped it between two of them', async () => {
    const fleet = await fleetWith([{ steps: [work, { text: 'more' }] }]);
    await spawn(fleet, '--max-iterations', '2');
    await fleet.until('agent', 'stopped', 'failed');
    expect(fleet.log('agent').at(-1)).toContain('reason=max_iterations');
    const run = await show(fleet);
    expect(run).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', iterations: 2 });
    const journal = fleet.read(`.ralph/runs/${run.run}/journal.ndjson`);
    const ends = journal.split('\n').filter((line) => line.includes('"run.ended"'));
    expect(ends.map((line) => JSON.parse(line).because.code)).toEqual(['max-iterations']);
  });

  it('ends as stuck when one iteration after the other changes nothing', async () => {
    const fleet = await fleetWith([{ steps: [{ shell: 'true' }, { text: 'hm' }] }], { stuckAfter: 2 });
    await spawn(fleet, '--max-iterations', '9');
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({
      status: 'failed',
      current_iteration: 2,
    });
    expect(await show(fleet)).toMatchObject({ outcome: 'STUCK' });
  });

  it('ends when the budget is spent', async () => {
    const fleet = await fleetWith([{ steps: [work, { text: 'more' }] }]);
    await spawn(fleet, '--max-tokens', '1');
    await fleet.until('agent', 'failed');
    expect(fleet.log('agent').at(-1)).toMatch(/^\[FAIL\] loop failed: .*token/);
  });

  it('is refused for a command that ralph run does not know', async () => {
    const fleet = makeFleet();
    const refused = await fleet.loop('x', 'true', '--verify', 'true');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('is no agent that ralph run knows');
  });
});
