import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, tag, work } from './support/agent.ts';
import { runRalph } from './support/ralph.ts';

const works = { steps: [work, { text: 'More to do.' }] };
const claims = { steps: [work, { text: tag }] };

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
    const types = repo
      .read(`.ralph/runs/${run}/journal.ndjson`)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
      .filter((type) => type.startsWith('run.'));
    expect(types).toEqual(['run.started', 'run.yielded', 'run.resumed', 'run.ended']);
  });

  it('is left as it is by the next run in the folder', async () => {
    const repo = await repoWith([works, claims]);
    await runRalph(runArgs(5, '--one-iteration'), repo);
    const { run } = await show(repo);
    expect((await runRalph(runArgs(5), repo)).code).toBe(0);
    expect(repo.read(`.ralph/runs/${run}/journal.ndjson`)).not.toContain('run.abandoned');
  });
});
