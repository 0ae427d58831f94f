import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive, waitUntil } from '../../support/processes.ts';
import { makeFleet, patience } from './fleet.ts';

describe('swarm spawn --ralph', { timeout: 120_000 }, () => {
  it('basic ralph loop: starts the agent in tmux, with the prompt on its standard input', async () => {
    const fleet = makeFleet();
    const spawned = await fleet.loop('agent', 'cat; sleep 600', '--max-iterations', '10');
    expect(spawned).toMatchObject({ code: 0, stderr: '' });
    expect(spawned.stdout).toMatch(
      /^spawned agent \(tmux: swarm-[0-9a-f]{8}:agent\) \[ralph mode: iteration 1\/10\]\n$/,
    );
    expect(fleet.state('agent')).toEqual({
      worker_name: 'agent',
      prompt_file: fleet.path('PROMPT.md'),
      max_iterations: 10,
      current_iteration: 1,
      status: 'running',
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      last_iteration_started: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      consecutive_failures: 0,
      total_failures: 0,
      done_pattern: null,
      inactivity_timeout: 60,
    });
    expect(fleet.worker('agent')).toMatchObject({
      status: 'running',
      pid: null,
      worktree: null,
      tmux: { window: 'agent', socket: fleet.socket },
      metadata: { ralph: true, ralph_iteration: 1 },
    });
    const shown = () => fleet.tmux('capture-pane', '-p', '-t', 'agent');
    await waitUntil(() => shown().includes('Do the task.'), patience);
  });

  it('iteration restart on agent exit: each has its lines and its number', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'cat >/dev/null; echo "$RALPH_ITERATION" >>ran.txt');
    await fleet.until('agent', 'stopped');
    expect(fleet.read('ran.txt')).toBe('1\n2\n3\n');
    expect(fleet.log('agent')).toEqual([
      '[START] iteration 1/3',
      expect.stringMatching(/^\[END\] iteration 1 exit=0 duration=\d+s$/),
      '[START] iteration 2/3',
      expect.stringMatching(/^\[END\] iteration 2 exit=0 duration=\d+s$/),
      '[START] iteration 3/3',
      expect.stringMatching(/^\[END\] iteration 3 exit=0 duration=\d+s$/),
      '[DONE] loop complete after 3 iterations reason=max_iterations',
    ]);
    await waitUntil(() => fleet.worker('agent').metadata.ralph_iteration === 3, patience);
  });

  it('max iterations reached: the loop is complete, and following it gives exit code 0', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'cat >/dev/null', '--no-run');
    const followed = await fleet.swarm('ralph', 'run', 'agent');
    expect(followed).toMatchObject({ code: 0, stderr: '' });
    const lines = followed.stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('[ralph] agent: starting iteration 1/3');
    expect(lines).toContain('[ralph] agent: starting iteration 3/3');
    expect(lines.at(-1)).toBe('[ralph] agent: loop complete after 3 iterations');
    expect(lines).toContainEqual(
      expect.stringMatching(/^\[ralph\] agent: iteration 2 completed \(exit: 0, duration: \d+s\)$/),
    );
    expect(fleet.state('agent')).toMatchObject({ status: 'stopped', current_iteration: 3 });
  });

  it('inactivity timeout triggers restart: a silent agent is ended and started again', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'echo $$ >>pids.txt; echo "$ ready"; sleep 600', '--inactivity-timeout', '1');
    await fleet.until('agent', 'stopped');
    expect(fleet.log('agent').filter((line) => line.startsWith('[TIMEOUT]'))).toEqual([
      '[TIMEOUT] iteration 1 inactivity_timeout=1s',
      '[TIMEOUT] iteration 2 inactivity_timeout=1s',
      '[TIMEOUT] iteration 3 inactivity_timeout=1s',
    ]);
    const events = fleet.eventTexts('agent');
    expect(events).toContain('inactivity timeout (1s), restarting');
    for (const pid of fleet.read('pids.txt').trim().split('\n')) expect(alive(Number(pid))).toBe(false);
  });

  it('inactivity is counted anew with every change of the screen', async () => {
    const fleet = makeFleet();
    const script = 'i=0; while [ $i -lt 8 ]; do i=$((i+1)); echo "line $i"; sleep 0.4; done';
    await fleet.loop('agent', script, '--inactivity-timeout', '2', '--max-iterations', '1');
    await fleet.until('agent', 'stopped');
    expect(fleet.log('agent')[1]).toMatch(/^\[END\] iteration 1 exit=0/);
  });

  it('done pattern stops loop: at the end of the iteration', async () => {
    const fleet = makeFleet();
    const script = 'cat >/dev/null; echo working; echo "All tasks complete"';
    await fleet.loop('agent', script, '--done-pattern', 'All tasks (complete|done)');
    expect(await fleet.until('agent', 'stopped')).toMatchObject({
      current_iteration: 1,
      done_pattern: 'All tasks (complete|done)',
    });
    expect(fleet.eventTexts('agent').at(-1)).toBe('done pattern matched, stopping loop');
    expect(fleet.log('agent').at(-1)).toBe('[DONE] loop complete after 1 iteration reason=done_pattern');
  });

  it('done pattern stops loop: in what an agent printed before it exited, above the screen too', async () => {
    const fleet = makeFleet();
    const script = 'cat >/dev/null; echo "No remaining tasks"; seq 1 300; exit 7';
    await fleet.loop('agent', script, '--done-pattern', 'No remaining tasks');
    expect(await fleet.until('agent', 'stopped')).toMatchObject({ current_iteration: 1, total_failures: 0 });
  });

  it('the done pattern is not found in the prompt that stands on the screen', async () => {
    const fleet = makeFleet({
      files: { 'PROMPT.md': 'Work on, and print "All tasks complete" at the end.\n' },
    });
    await fleet.loop('agent', 'cat; echo working', '--done-pattern', 'All tasks complete');
    await fleet.until('agent', 'stopped');
    expect(fleet.log('agent').at(-1)).toBe('[FAIL] loop not done after 3 iterations reason=max_iterations');
  });

  it('prompt file edited mid-loop: the next iteration reads it anew', async () => {
    const fleet = makeFleet({ files: { 'PROMPT.md': 'Do task A' } });
    const script = 'cat >>got.txt; echo >>got.txt; while [ ! -e "go.$RALPH_ITERATION" ]; do sleep 0.05; done';
    await fleet.loop('agent', script, '--max-iterations', '2');
    await waitUntil(() => fleet.exists('got.txt'), patience);
    fleet.write('PROMPT.md', 'Do task B, with $(touch evil) and "quotes" and 🙂');
    fleet.write('go.1', '');
    fleet.write('go.2', '');
    await fleet.until('agent', 'stopped');
    expect(fleet.read('got.txt')).toBe('Do task A\nDo task B, with $(touch evil) and "quotes" and 🙂\n');
    expect(fleet.exists('evil')).toBe(false);
  });

  it('an empty prompt file is allowed', async () => {
    const fleet = makeFleet({ files: { 'PROMPT.md': '' } });
    await fleet.loop('agent', 'wc -c >got.txt', '--max-iterations', '1');
    await fleet.until('agent', 'stopped');
    expect(fleet.read('got.txt').trim()).toBe('0');
  });

  it('a prompt file that is deleted mid-loop ends the loop with the words for it', async () => {
    const fleet = makeFleet();
    const script = 'while [ ! -e go ]; do sleep 0.05; done';
    await fleet.loop('agent', script, '--max-iterations', '9');
    rmSync(fleet.path('PROMPT.md'));
    fleet.write('go', '');
    await fleet.until('agent', 'failed');
    const followed = await fleet.swarm('ralph', 'run', 'agent');
    expect(followed.code).toBe(2);
    expect(followed.stderr).toBe(`swarm: error: prompt file not found: ${fleet.path('PROMPT.md')}\n`);
  });

  it('max_iterations edited in the state file counts from the next iteration', async () => {
    const fleet = makeFleet();
    const script = 'touch here; while [ ! -e "go.$RALPH_ITERATION" ]; do sleep 0.05; done';
    await fleet.loop('agent', script, '--max-iterations', '9');
    await waitUntil(() => existsSync(fleet.path('here')));
    // As editors do it, so that nobody reads half a file.
    const path = join(fleet.home, '.swarm/ralph/agent/state.json');
    writeFileSync(`${path}.new`, JSON.stringify({ ...fleet.state('agent'), max_iterations: 2 }));
    renameSync(`${path}.new`, path);
    fleet.write('go.1', '');
    fleet.write('go.2', '');
    expect(await fleet.until('agent', 'stopped')).toMatchObject({ max_iterations: 2, current_iteration: 2 });
    expect(fleet.log('agent')).toContain('[START] iteration 2/2');
  });

  it('several loops run at once', async () => {
    const fleet = makeFleet();
    const names = ['one', 'two', 'three'];
    const script = 'touch "here.$SWARM_WORKER"; while [ "$(ls here.* | wc -l)" -lt 3 ]; do sleep 0.05; done';
    await Promise.all(names.map((name) => fleet.loop(name, script, '--max-iterations', '2')));
    await Promise.all(names.map((name) => fleet.until(name, 'stopped')));
    for (const name of names)
      expect(fleet.state(name)).toMatchObject({ current_iteration: 2, total_failures: 0 });
  });

  it('works in a worktree of its own', async () => {
    const fleet = makeFleet();
    await fleet.loop('agent', 'pwd >where.txt', '--worktree', '--max-iterations', '1');
    await fleet.until('agent', 'stopped');
    const { worktree, cwd } = fleet.worker('agent');
    expect(worktree).toMatchObject({ branch: 'agent', base_repo: fleet.cwd });
    expect(cwd).toBe(worktree?.path);
    expect(fleet.exists('where.txt')).toBe(false);
  });

  it('every iteration has the PATH of whoever spawned it, whichever the supervisor has', async () => {
    const fleet = makeFleet();
    await fleet.loop('other', 'sleep 600');
    await waitUntil(() => fleet.supervisor() !== null, patience);
    fleet.write('tools/my-agent', '#!/bin/sh\necho "$PATH" >>paths.txt\n');
    chmodSync(fleet.path('tools/my-agent'), 0o755);
    const PATH = `${fleet.path('tools')}:${process.env.PATH}`;
    Object.assign(fleet.env, { PATH });
    const words = ['--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '3'];
    await fleet.swarm('spawn', '--name', 'mine', '--tmux-socket', fleet.socket, ...words, '--', 'my-agent');
    expect(await fleet.until('mine', 'stopped', 'failed')).toMatchObject({
      status: 'stopped',
      total_failures: 0,
    });
    expect(fleet.read('paths.txt')).toBe(`${fleet.bin}:${PATH}\n`.repeat(3));
  });
});
