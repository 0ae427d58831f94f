import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPaths } from '../../../src/config/paths.ts';
import { endAtMax, endStep } from '../../../src/fleet/end-loop.ts';
import { type LoopRecord, readLoop, updateLoop } from '../../../src/fleet/files/loops.ts';
import { loopPaths } from '../../../src/fleet/files/paths.ts';
import { updateWorker } from '../../../src/fleet/files/workers.ts';
import { readJournal } from '../../../src/journal/journal.ts';
import { readRun } from '../../../src/journal/runs.ts';
import { lockOwner } from '../../../src/os/files/lock.ts';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { show, type Turns, work } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { runRalph, startRalph } from '../../support/ralph.ts';
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

const envOf = ({ home }: TestFleet) => ({ SWARM_HOME: join(home, '.swarm') });

function record(fleet: TestFleet, name: string): LoopRecord {
  const loop = readLoop(envOf(fleet), name);
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

/** Does something while the supervisor sees nothing, and holds no lock that a command could wait for. */
async function whileStopped(fleet: TestFleet, use: () => Promise<void>): Promise<void> {
  const pid = fleet.supervisor();
  if (pid === null) throw new Error('there is no supervisor');
  const { lock } = loopPaths(envOf(fleet), 'agent');
  await waitUntil(() => {
    process.kill(pid, 'SIGSTOP');
    if (lockOwner(lock) === null) return true;
    process.kill(pid, 'SIGCONT');
    return undefined;
  }, patience);
  try {
    await use();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
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

  it('is paused by ralph pause during an iteration, and goes on by ralph unpause', async () => {
    const fleet = await fleetWith([slow, done]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    const { run } = await show(fleet);
    const next = `run ${run} waits after this iteration; ralph unpause lets it go on\n`;
    expect(await runRalph(['pause'], fleet)).toMatchObject({ code: 0, stdout: next });
    fleet.write('go', '');
    await waitUntil(() => fleet.supervisor() === null, patience);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 1 });
    expect(await runRalph(['unpause'], fleet)).toMatchObject({ code: 0, stdout: `run ${run} goes on\n` });
    expect(await fleet.until('agent', 'stopped', 'failed')).toMatchObject({ current_iteration: 2 });
    expect(await show(fleet)).toMatchObject({ run, outcome: 'PROMISE_ACCEPTED' });
  });

  it('hears a note and a pause that come between two iterations', async () => {
    const fleet = await fleetWith([{ steps: [work], exitCode: 1 }, { steps: [work], exitCode: 1 }, done]);
    await spawn(fleet);
    await waitUntil(() => record(fleet, 'agent').failures === 2, patience);
    await whileStopped(fleet, async () => {
      const { run } = await show(fleet);
      expect(await runRalph(['note', 'use', 'tabs'], fleet)).toMatchObject({
        code: 0,
        stdout: `run ${run} reads it in its next prompt\n`,
      });
      expect(await runRalph(['pause'], fleet)).toMatchObject({
        code: 0,
        stdout: `run ${run} is paused; ralph unpause lets it go on\n`,
      });
    });
    await waitUntil(() => fleet.supervisor() === null, patience);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 2 });
    expect((await runRalph(['unpause'], fleet)).code).toBe(0);
    await fleet.until('agent', 'stopped', 'failed');
    const prompts = (await fleet.agent.calls()).map(({ prompt }) => prompt.includes('use tabs'));
    expect(prompts).toEqual([false, false, true]);
  });

  it('waits for a human when the agent asks for one', async () => {
    const blocked = { steps: [work, { text: '<promise>BLOCKED: no access to the database</promise>' }] };
    const fleet = await fleetWith([blocked]);
    await spawn(fleet);
    await fleet.until('agent', 'paused', 'failed');
    expect(fleet.log('agent').at(-1)).toBe('[PAUSE] loop paused: no access to the database');
    const { stdout } = await fleet.swarm('ralph', 'status', 'agent');
    expect(stdout).toContain('Why: needs you: waits for your answer (no access to the database)\n');
    expect(await show(fleet)).toMatchObject({ outcome: 'BLOCKED', exitCode: 4 });
    expect(fleet.read('.ralph/blocked.txt')).toBe('no access to the database\n');
  });

  it('has no part any more in a run that a person resumed', async () => {
    const blocked = { steps: [work, { text: '<promise>BLOCKED: no access</promise>' }] };
    const fleet = await fleetWith([blocked, slow, done]);
    await spawn(fleet);
    await fleet.until('agent', 'paused', 'failed');
    const { run } = await show(fleet);
    const resumed = startRalph(['run', '--resume', run], fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    expect((await runRalph(['pause'], fleet)).code).toBe(0);
    fleet.write('go', '');
    await waitUntil(() => events(fleet, run).some(({ type }) => type === 'paused'), patience);
    expect(await runRalph(['unpause'], fleet)).toMatchObject({ code: 0, stdout: `run ${run} goes on\n` });
    expect((await resumed.done).code).toBe(0);
    expect(fleet.state('agent')).toMatchObject({ status: 'paused', current_iteration: 1 });
    expect(events(fleet, run).filter(({ type }) => type === 'run.ended')).toMatchObject([
      { outcome: 'BLOCKED' },
      { outcome: 'PROMISE_ACCEPTED' },
    ]);
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

  it('ends by ralph stop between two iterations, too, with the same end', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    const { run } = await show(fleet);
    expect(await runRalph(['stop'], fleet)).toMatchObject({ code: 0, stdout: `run ${run} is stopped\n` });
    expect(record(fleet, 'agent')).toMatchObject({
      status: 'stopped',
      iteration: 1,
      end: { outcome: 'CANCELLED', exitCode: 130 },
    });
    expect(await show(fleet)).toMatchObject({ run, outcome: 'CANCELLED', exitCode: 130, iterations: 1 });
  });

  it('books the turn that was decided just before somebody stopped it', async () => {
    const fleet = await fleetWith([{ ...slow, exitCode: 1 }]);
    await spawn(fleet);
    await waitUntil(() => fleet.exists('began'), patience);
    await whileStopped(fleet, async () => {
      fleet.write('go', '');
      const { run } = await show(fleet);
      await waitUntil(() => events(fleet, run).some(({ type }) => type === 'run.yielded'), patience);
      expect(record(fleet, 'agent').failures).toBe(0);
      await fleet.swarm('ralph', 'stop', 'agent');
    });
    expect(record(fleet, 'agent')).toMatchObject({
      status: 'stopped',
      iteration: 1,
      failures: 1,
      totalFailures: 1,
      end: { outcome: 'CANCELLED' },
    });
  });

  it('says in ralph show why it waits, in the words of swarm why, and ends with the time of the whole loop', async () => {
    const fleet = await fleetWith([{ steps: [work, { stderr: 'boom' }], exitCode: 1 }]);
    await spawn(fleet);
    await waitUntil(() => record(fleet, 'agent').failures === 2, patience);
    await whileStopped(fleet, async () => {
      const because = 'the turn ended as failed: boom';
      expect(await show(fleet)).toMatchObject({ outcome: null, because });
      expect((await fleet.swarm('why', 'agent')).stdout).toMatch(/^agent: backoff until .*: boom\), for/);
      await fleet.swarm('ralph', 'stop', 'agent');
    });
    const { run } = await show(fleet);
    expect(events(fleet, run).at(-1)).toMatchObject({
      ...{ type: 'run.ended', outcome: 'CANCELLED', iterations: 2 },
      ms: readRun(fleet.cwd, run).view.elapsedMs,
    });
  });

  it('ends without another try when its agent is gone, as ralph run does', async () => {
    const ends = [];
    for (const isSupervised of [true, false]) {
      const vanish = { steps: [{ shell: 'rm "$(command -v claude)"; echo x >work.txt' }, { text: 'more' }] };
      const fleet = await fleetWith([vanish]);
      const words = ['-m', '5', '--agent', 'claude', '--completion-promise', 'DONE', '-f', 'PROMPT.md'];
      const { code } = isSupervised ? await spawn(fleet, '--wait') : await runRalph(['run', ...words], fleet);
      const { outcome, exitCode, because, iterations } = await show(fleet);
      ends.push({ code, outcome, exitCode, because, iterations });
      if (isSupervised)
        expect(record(fleet, 'agent').end).toMatchObject({ outcome, exitCode, because: { text: because } });
    }
    const because = 'the agent "claude" is not installed, or not on the PATH';
    const end = { code: 3, outcome: 'AGENT_FAILED', exitCode: 3, because, iterations: 1 };
    expect(ends).toEqual([end, end]);
  });

  it('ends as ralph run does when its prompt file goes away', async () => {
    const fleet = await fleetWith([{ steps: [{ shell: 'rm PROMPT.md' }, { text: 'more' }] }]);
    expect((await spawn(fleet, '--wait')).code).toBe(2);
    const { end } = record(fleet, 'agent');
    expect(end).toMatchObject({ outcome: 'LOOP_FAILED', exitCode: 2, because: { code: 'prompt-file' } });
    expect(await show(fleet)).toMatchObject({
      ...{ outcome: 'LOOP_FAILED', exitCode: 2, because: end?.because.text, iterations: 1 },
    });
  });

  it('is refused with nothing left behind when its settings are wrong', async () => {
    const fleet = await fleetWith([done], { maxFailures: 'six' });
    const { code, stderr } = await spawn(fleet);
    expect([code, stderr]).toEqual([2, expect.stringContaining('maxFailures')]);
    expect(fleet.exists('.ralph/runs')).toBe(false);
  });

  it('ends without another try when its run cannot go on, and the journal says why', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    fleet.write('.ralph/settings.json', '{');
    await fleet.swarm('ralph', 'resume', 'agent');
    await fleet.until('agent', 'stopped', 'failed');
    const { iteration, end } = record(fleet, 'agent');
    expect({ iteration, end }).toMatchObject({ iteration: 1, end: { outcome: 'LOOP_FAILED', exitCode: 2 } });
    expect(end?.because.text).toContain('settings.json');
    expect(await show(fleet)).toMatchObject({
      outcome: 'LOOP_FAILED',
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

  it('has its end in the journal when the supervisor was killed just after it had booked that', async () => {
    const fleet = await fleetWith([slow, done]);
    await pauseAfterFirst(fleet);
    // As such a supervisor leaves it: the end is in the record, and the list still says that the worker runs.
    const loop = updateLoop(envOf(fleet), 'agent', (paused) => endStep(paused, endAtMax(paused), Date.now()));
    updateWorker(envOf(fleet), 'agent', { status: 'running' });
    expect(await show(fleet)).toMatchObject({ outcome: null, state: 'yielded' });
    await fleet.swarm('ls');
    await waitUntil(() => fleet.worker('agent').status === 'stopped', patience);
    const because = loop?.end?.because.text;
    expect(await show(fleet)).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', because, iterations: 1 });
  });

  it('is refused for a command that ralph run does not know', async () => {
    const fleet = makeFleet();
    const refused = await fleet.loop('x', 'true', '--verify', 'true');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('is no agent that ralph run knows');
  });
});
