import { describe, expect, it } from 'vitest';
import { runPaths } from '../../../src/config/paths.ts';
import { foldEvents } from '../../../src/journal/fold-events.ts';
import { readJournal } from '../../../src/journal/journal.ts';
import { repoWith, runArgs, show, tag, work } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { runRalph, startRalph } from '../../support/ralph.ts';
import type { Repo } from '../../support/repo.ts';

const works = { steps: [work, { text: 'More to do.' }] };
const claims = { steps: [work, { text: tag }] };

/** Runs a loop with a process for each iteration; the exit code of the last one. */
async function oneByOne(repo: Repo): Promise<number | null> {
  let { code } = await runRalph(runArgs(9, '--one-iteration'), repo);
  while (code === 75) ({ code } = await runRalph(['run', '--resume', '--one-iteration'], repo));
  return code;
}

describe('ralph run --one-iteration', () => {
  it('yields between two iterations: the run is neither ended nor killed, and its exit code is none of a loop', async () => {
    const repo = await repoWith([works, claims]);
    expect((await runRalph(runArgs(5, '--one-iteration'), repo)).code).toBe(75);
    expect(await show(repo)).toMatchObject({
      outcome: null,
      exitCode: null,
      state: 'yielded',
      iterations: 1,
    });
    expect((await runRalph(['runs'], repo)).stdout).toContain('  waiting  ');
    expect((await runRalph(['show'], repo)).stdout).toContain('waits for its supervisor');
    const stats = JSON.parse((await runRalph(['stats', '--json'], repo)).stdout);
    expect(stats.outcomes).toEqual({ none: 1 });
    expect((await runRalph(['report', '--md'], repo)).stdout).toContain('## ralph: not ended');
    expect((await runRalph(['doctor'], repo)).stdout).not.toContain('was killed');
  });

  it('goes on in the same run, and has one end: its own', async () => {
    const repo = await repoWith([works, claims]);
    await runRalph(runArgs(5, '--one-iteration'), repo);
    expect((await runRalph(['run', '--resume', '--one-iteration'], repo)).code).toBe(0);
    const { run, ...shown } = await show(repo);
    expect(shown).toMatchObject({ outcome: 'PROMISE_ACCEPTED', state: 'ended', iterations: 2 });
    const { events } = readJournal(runPaths(repo.cwd, run).journal);
    const ends = events.flatMap((event) => (event.type === 'run.ended' ? [event.ms] : []));
    // Of both processes.
    expect(ends[0]).toBeGreaterThanOrEqual(foldEvents(run, events.slice(0, -1)).elapsedMs);
    const types = events.map(({ type }) => type).filter((type) => type.startsWith('run.'));
    expect(types).toEqual(['run.started', 'run.yielded', 'run.resumed', 'run.ended']);
  });

  it('waits in its process if somebody pauses it and no worker of this machine drives it', async () => {
    const slow = { steps: [work, { shell: 'touch began; while [ ! -e go ]; do sleep 0.05; done' }] };
    const repo = await repoWith([slow]);
    const running = startRalph(runArgs(5, '--one-iteration'), repo);
    await waitUntil(() => repo.exists('began'));
    expect((await runRalph(['pause'], repo)).stdout).toContain('waits after this iteration');
    repo.write('go', '');
    const { run } = await show(repo);
    const types = () => readJournal(runPaths(repo.cwd, run).journal).events.map(({ type }) => type);
    await waitUntil(() => types().includes('paused'));
    expect((await runRalph(['unpause'], repo)).stdout).toBe(`run ${run} goes on\n`);
    expect((await running.done).code).toBe(75);
    expect(types().slice(-3)).toEqual(['paused', 'unpaused', 'run.yielded']);
    const refused = await runRalph(['pause'], repo);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('swarm ralph pause NAME') });
  });

  it('is left as it is by the next run in the folder', async () => {
    const repo = await repoWith([works, claims]);
    await runRalph(runArgs(5, '--one-iteration'), repo);
    const { run } = await show(repo);
    expect((await runRalph(runArgs(5), repo)).code).toBe(0);
    expect(repo.read(`.ralph/runs/${run}/journal.ndjson`)).not.toContain('run.abandoned');
  });

  it('counts what it waited over all its processes', async () => {
    const limited = { steps: [{ error: { status: 529, message: 'Overloaded' } }] };
    const repo = await repoWith([limited], { maxWait: '2s' });
    expect(await oneByOne(repo)).toBe(8);
    const { events } = readJournal(runPaths(repo.cwd, (await show(repo)).run).journal);
    const decisions = events.flatMap((event) => (event.type === 'decision' ? [event] : []));
    const waited = decisions.reduce((sum, { ms = 0 }) => sum + ms, 0);
    expect(waited).toBeGreaterThan(0);
    expect(decisions.at(-1)?.loop.waitedMs).toBe(waited);
  });

  it('sees no progress in a guardrail that passed in an earlier process', async () => {
    const stands = [{ steps: [{ shell: 'true' }, { text: 'Hm.' }] }];
    const repo = await repoWith(stands, { stuckAfter: 2, guardrails: [{ command: 'true' }] });
    const { code } = await runRalph(runArgs(9), repo);
    const { outcome, iterations } = await show(repo);
    expect(outcome).toBe('STUCK');
    expect(await oneByOne(repo)).toBe(code);
    expect(await show(repo)).toMatchObject({ outcome, iterations });
  });

  it('gets its number and the name of its run from a supervisor, and refuses what cannot be meant', async () => {
    const repo = await repoWith([works]);
    await runRalph(runArgs(9, '--one-iteration=4', '--run-id=night'), repo);
    expect(await show(repo)).toMatchObject({ run: 'night', iterations: 4, state: 'yielded' });
    const stop = await runRalph(['stop'], repo);
    expect(stop).toMatchObject({ code: 2, stderr: expect.stringContaining('swarm ralph stop NAME') });
    await runRalph(['run', '--resume', '--one-iteration=7'], repo);
    expect(await show(repo)).toMatchObject({ run: 'night', iterations: 7 });
    const again = await runRalph(runArgs(9, '--run-id=night'), repo);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('ralph run --resume night') });
    for (const words of [['--run-id=../x'], ['--one-iteration=0'], ['--one-iteration=two']])
      expect((await runRalph(runArgs(9, ...words), repo)).code).toBe(2);
    expect((await runRalph(['run', '--resume', '--run-id=x'], repo)).code).toBe(2);
  });
});
