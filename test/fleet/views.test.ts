import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { waitUntil } from '../support/processes.ts';
import { builtProgram } from '../support/ralph.ts';
import { openInTerminal } from '../support/terminal.ts';
import { makeFleet, patience, type TestFleet } from './swarm/fleet.ts';

const asks = 'printf "Overwrite? [y/N] "; sleep 600';
const works = 'while :; do date +%N; sleep 0.1; done';
const seen = (fleet: TestFleet, name: string, text: string) =>
  waitUntil(async () => (await fleet.swarm('why', name)).stdout.includes(text), {
    ...patience,
    what: `${name}: ${text}`,
  });

describe('swarm why', () => {
  it('tells what a loop is doing, what to type, and the decisions before', async () => {
    const fleet = makeFleet();
    await fleet.loop('asker', asks);
    await seen(fleet, 'asker', 'asker: needs you: waits for your answer');
    const { stdout } = await fleet.swarm('why', 'asker');
    expect(stdout).toMatch(
      /^asker: needs you: waits for your answer \(Overwrite\? \[y\/N\]\), for \d+s, iteration 1\/3\n {2}next: swarm attach asker\n/,
    );
    expect(stdout).toMatch(/\d\d:\d\d:\d\d {2}starting iteration 1\/3\n/);
    expect(stdout).toMatch(/\d\d:\d\d:\d\d {2}needs you: waits for your answer \(Overwrite\? \[y\/N\]\)\n/);
    await fleet.swarm('ralph', 'pause', 'asker');
    const json = JSON.parse((await fleet.swarm('why', 'asker', '--format', 'json', '--lines', '1')).stdout);
    expect(json).toMatchObject({ name: 'asker', why: { state: 'paused' }, events: [{ type: 'paused' }] });
  });

  it('tells how a loop came to its end', async () => {
    const fleet = makeFleet();
    await fleet.loop('doer', 'echo "All tasks complete"', '--done-pattern', 'All tasks complete');
    await fleet.until('doer', 'stopped');
    const { stdout } = await fleet.swarm('why', 'doer');
    expect(stdout).toMatch(/^doer: done \(done pattern matched, stopping loop\)/);
    expect(stdout).toContain('starting iteration 1/3');
  });

  it('tells, as the status does, what was skipped of the timeline and of the journal of its run', async () => {
    const fleet = makeFleet();
    await installFakeAgent(fleet.bin, {
      agent: 'claude',
      script: { turns: [{ steps: [{ text: 'more' }] }] },
    });
    const words = ['--name', 'a', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '1', '--run'];
    await fleet.swarm('spawn', ...words, '--tmux-socket', fleet.socket, '--wait', '--', 'claude');
    const [run = ''] = readdirSync(join(fleet.cwd, '.ralph/runs'));
    appendFileSync(join(fleet.cwd, '.ralph/runs', run, 'journal.ndjson'), 'no event\nnor this\n');
    const future = '{"at":1,"type":"from-the-future","text":""}';
    appendFileSync(join(fleet.home, '.swarm/ralph/a/events.ndjson'), `{"at":1,"ty\n${future}\n`);
    const texts = [
      '1 damaged line and 1 event of a newer release in the timeline were skipped',
      '2 damaged lines in the journal were skipped',
    ];
    const { stdout } = await fleet.swarm('why', 'a');
    expect(stdout).toContain(texts.map((text) => `  ${text}\n`).join(''));
    const status = await fleet.swarm('ralph', 'status', 'a');
    expect(status.stdout).toContain(texts.map((text) => `Skipped: ${text}\n`).join(''));
    expect(JSON.parse((await fleet.swarm('why', 'a', '--format', 'json')).stdout)).toMatchObject({
      skipped: { timeline: { damaged: 1, unknown: 1 }, journal: { damaged: 2, unknown: 0 } },
    });
    expect((await fleet.swarm('ralph', 'run', 'a')).stderr).toContain(texts[0]);
  });

  it('looks at the window of a worker that is no loop', async () => {
    const fleet = makeFleet();
    const words = ['--tmux', '--tmux-socket', fleet.socket];
    await fleet.swarm('spawn', '--name', 'plain', ...words, '--', 'sh', '-c', asks);
    await seen(fleet, 'plain', 'plain: needs you: waits for your answer');
    expect((await fleet.swarm('why', 'nobody')).stderr).toContain("worker 'nobody' not found");
  });
});

describe('swarm top', () => {
  it('prints the table once without a terminal, those that wait for you first', async () => {
    const fleet = makeFleet();
    await fleet.loop('a-worker', works);
    await fleet.loop('z-asker', asks);
    await seen(fleet, 'z-asker', 'waits for your answer');
    await seen(fleet, 'a-worker', 'a-worker: working');
    const { stdout, code } = await fleet.swarm('top');
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('swarm 2 workers · 1 waits for you · 2 running');
    expect(lines[2]).toMatch(/^z-asker +needs you: waits for your answer \(Overwrite\? \[y\/N\]\) +1\/3/);
    expect(lines[3]).toMatch(/^a-worker +working +1\/3/);
  });

  it('is a live screen with keys, each showing its command, and gives the terminal back', async () => {
    const fleet = makeFleet();
    await fleet.loop('one', works);
    await fleet.loop('two', works);
    const script =
      '"$@"; code=$?; case "$(stty -a)" in *" echo "*) echo "ended with $code and an echo" ;; esac; sleep 600';
    const command = ['sh', '-c', script, 'sh', process.execPath, builtProgram('swarm'), 'top'];
    const terminal = openInTerminal(fleet, command, { columns: 80, rows: 24 });
    const shows = (text: string | RegExp) =>
      waitUntil(
        () => (typeof text === 'string' ? terminal.screen().includes(text) : text.test(terminal.screen())),
        { ...patience, what: `${text} on the screen` },
      );
    await shows('2 workers');
    await shows(/^▶ one +working/m);
    terminal.press('Down');
    await shows(/^▶ two/m);
    terminal.press('p');
    await shows('$ swarm ralph pause two paused ralph loop for two');
    await shows(/^▶ two +paused/m);
    expect(fleet.state('two').status).toBe('paused');
    terminal.press('r');
    await shows('$ swarm ralph resume two resumed ralph loop for two');
    terminal.press('k');
    await shows('k once more: $ swarm kill two');
    expect(fleet.state('two').status).toBe('running');
    terminal.press('k');
    await shows('$ swarm kill two killed two');
    await fleet.until('two', 'stopped');
    terminal.resize(60, 12);
    await waitUntil(() => terminal.screen().split('\n').length === 12, { ...patience, what: 'the new size' });
    await shows(/^▶ two +stopped/m);

    terminal.press('Up', 'a');
    const isAttached = () => fleet.tmux('list-clients') !== '';
    await waitUntil(isAttached, { ...patience, what: 'the window of the worker' });
    terminal.press('C-b', 'd');
    await waitUntil(() => !isAttached(), { ...patience, what: 'the way back' });
    await shows('$ swarm attach one');
    terminal.press('q');
    await shows('ended with 0 and an echo');
    expect(terminal.modes()).toEqual({ alternate: false, cursor: true, wrap: true });
  }, 120_000);
});
