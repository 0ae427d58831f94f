import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { alive, processesOfRun, waitUntil } from '../../support/processes.ts';
import { runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

const tag = '<promise>DONE</promise>';
const args = ['run', '-p', 'Do the task.', '-m', '40', '--completion-promise', 'DONE'];

/** The runs that got as far as a journal. */
function runsOf(repo: Repo): string[] {
  const folders = repo.exists('.ralph/runs') ? readdirSync(repo.path('.ralph/runs')).sort() : [];
  return folders.filter((run) => repo.exists(`.ralph/runs/${run}/journal.ndjson`));
}

/** Every line but the last is an event; the last may be torn. */
function journalIsReadable(repo: Repo, run: string): boolean {
  const lines = readFileSync(repo.path('.ralph/runs', run, 'journal.ndjson'), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.every((line) => typeof JSON.parse(line).seq === 'number');
}

describe('kill -9 of the loop', () => {
  it('at twenty random moments leaves no torn state, and nothing that outlives the next start', async () => {
    const repo = makeRepo({
      files: { 'a.txt': '1\n' },
      settings: { agent: { command: 'claude' }, stuckAfter: 0, guardrails: [{ command: 'sleep 0.02' }] },
    });
    const turn = {
      steps: [
        { child: { seconds: 300, setsid: true } },
        { shell: 'date +%N >> a.txt' },
        { delay: 30 },
        { text: 'Going on.' },
        { delay: 30 },
      ],
    };
    const agent = await installFakeAgent(repo.bin, { agent: 'claude', script: { turns: [turn] } });
    for (let kill = 0; kill < 20; kill++) {
      const running = startRalph(args, repo);
      // Every other kill falls into the work, whatever the load of the machine; the others may fall into the start.
      if (kill % 2 === 0) await waitUntil(() => running.output.stdout.includes('Iteration 1'));
      await sleep(Math.random() * 400);
      running.child.kill('SIGKILL');
      expect((await running.done).signal).toBe('SIGKILL');
      for (const run of runsOf(repo)) expect(journalIsReadable(repo, run)).toBe(true);
    }
    const orphans = runsOf(repo).flatMap(processesOfRun);

    await installFakeAgent(repo.bin, {
      agent: 'claude',
      script: { turns: [{ steps: [{ shell: 'echo ok > ok.txt' }, { text: tag }] }] },
    });
    expect((await runRalph(args, repo)).code).toBe(0);
    expect(agent.turn()).toBeGreaterThan(5);
    expect(orphans.filter(alive)).toEqual([]);
    expect(agent.children().filter(alive)).toEqual([]);
    const shown = await Promise.all(runsOf(repo).map((run) => runRalph(['show', run, '--json'], repo)));
    expect(shown.map(({ code }) => code).every((code) => code === 0)).toBe(true);
    const abandoned = runsOf(repo).filter((run) => journalOf(repo, run).includes('"run.abandoned"'));
    expect(abandoned.length).toBe(runsOf(repo).length - 1);
  }, 120_000);

  it('before the first word of its journal, or in the middle of it, still gets the run its end', async () => {
    const repo = makeRepo({ settings: { agent: { command: 'claude' } } });
    await installFakeAgent(repo.bin, {
      agent: 'claude',
      script: { turns: [{ steps: [{ shell: 'echo ok > ok.txt' }, { text: tag }] }] },
    });
    for (const [run, journal] of [
      ['20200101-000000-000aaa', ''],
      ['20200101-000000-000bbb', '{"v":1,"seq":1,"at":"2020-01-01T0'],
    ] as const) {
      for (const other of runsOf(repo)) rmSync(repo.path('.ralph/runs', other), { recursive: true });
      repo.write(`.ralph/runs/${run}/journal.ndjson`, journal);
      expect((await runRalph(args, repo)).code).toBe(0);
      expect(journalOf(repo, run)).toMatch(/^\{"v":1,"seq":1,[^\n]*"type":"run.abandoned"[^\n]*\n$/);
      const { code, stdout } = await runRalph(['show', run, '--json'], repo);
      expect({ code, outcome: JSON.parse(stdout).outcome }).toEqual({ code: 0, outcome: null });
    }
  });
});

function journalOf(repo: Repo, run: string): string {
  return readFileSync(repo.path('.ralph/runs', run, 'journal.ndjson'), 'utf8');
}

describe('an error after the start of the agent', () => {
  it('ends the agent before the lock goes', async () => {
    const repo = makeRepo({ settings: { agent: { command: 'quiet' } } });
    // An agent that says nothing: nothing that it prints can fail.
    const watch = 'for i in 1 2 3 4 5; do sleep 1; test -e .ralph/lock || touch "$HOME/unlocked"; done';
    writeFileSync(`${repo.bin}/quiet`, `#!/bin/sh\n${watch}\n`, { mode: 0o755 });
    // The prompt of the iteration cannot be written there.
    mkdirSync(repo.path('.ralph/runs/r1/iterations/001.prompt.md/x'), { recursive: true });
    const { code, stderr } = await runRalph([...args, '--run-id', 'r1'], repo);
    expect([code, stderr]).toEqual([2, expect.stringContaining('001.prompt.md cannot be written')]);
    expect(processesOfRun('r1')).toEqual([]);
    expect(existsSync(`${repo.home}/unlocked`)).toBe(false);
    expect((await runRalph(['show', 'r1'], repo)).stdout).toContain('LOOP_FAILED (exit code 2)');
  });

  it('is followed by a sweep at the next start', async () => {
    const repo = makeRepo({ settings: { agent: { command: 'claude' } } });
    await installFakeAgent(repo.bin, { agent: 'claude', script: { turns: [{ steps: [{ text: 'Hm.' }] }] } });
    mkdirSync(repo.path('.ralph/runs/r2/iterations/001.prompt.md/x'), { recursive: true });
    await runRalph([...args, '--run-id', 'r2'], repo);
    const orphan = spawn('sleep', ['600'], { env: { ...process.env, HOME: repo.home, RALPH_RUN_ID: 'r2' } });
    const gone = once(orphan, 'exit');
    await runRalph([...args, '-m', '1'], repo);
    expect((await gone)[1]).toBe('SIGTERM');
  });
});

it('a repository that vanished in a turn fails the claim', async () => {
  const repo = makeRepo({ settings: { agent: { command: 'claude' } } });
  await installFakeAgent(repo.bin, {
    agent: 'claude',
    script: { turns: [{ steps: [{ shell: 'rm -rf .git' }, { text: tag }] }] },
  });
  const { code, stdout } = await runRalph([...args, '-m', '1'], repo);
  expect([code, stdout]).toEqual([1, expect.stringContaining('the repository is gone')]);
});
