import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';

describe('a command in a subfolder of the working copy', () => {
  it('is about the project around it, and takes typed paths from where they were typed', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    repo.write('src/deep/TASK.md', 'Do the task.');
    const below = { ...repo, cwd: repo.path('src/deep') };
    const words = ['run', '-f', 'TASK.md', '-m', '1', '--completion-promise', 'DONE'];
    expect((await runRalph(words, below)).code).toBe(0);
    expect(repo.exists('src/deep/.ralph')).toBe(false);
    expect((await runRalph(['runs'], below)).stdout).toContain('PROMISE_ACCEPTED');
    expect(JSON.parse((await runRalph(['show', '--json'], below)).stdout)).toMatchObject({ iterations: 1 });
    const { code } = await runRalph(['report', '--md', '-o', 'report.md'], below);
    expect(code).toBe(0);
    expect(repo.exists('src/deep/report.md')).toBe(true);
  });

  it('stays where it is with files of its own, in a repository of its own, and below a home', async () => {
    const repo = makeRepo({ settings: { maximumIterations: 3 } });
    const iterations = async (cwd: string, env = repo.env) =>
      JSON.parse((await runRalph(['config'], { ...repo, cwd, env })).stdout).maximumIterations;
    for (const folder of ['a', 'b', 'c/.git']) mkdirSync(repo.path(folder), { recursive: true });
    repo.write('b/.ralph/settings.json', '{"maximumIterations": 4}');
    expect(await iterations(repo.path('a'))).toBe(3);
    expect(await iterations(repo.path('b'))).toBe(4);
    expect(await iterations(repo.path('c'))).toBe(10);
    expect(await iterations(repo.path('a'), { ...repo.env, HOME: repo.cwd })).toBe(10);
  });

  it('leaves nothing behind where it is refused', async () => {
    const repo = makeRepo();
    const refusals = [
      ['run', '-p', 'x', '--agent', 'nosuch'],
      ['run', '-p', 'x'],
      ['run', '-f', 'missing.md'],
      [...runArgs(1), '--agent', 'amp'],
    ];
    for (const words of refusals) expect((await runRalph(words, repo)).code).toBeGreaterThan(1);
    expect(repo.exists('.ralph')).toBe(false);
    expect(repo.exists(join('..', 'home', '.local/state/ralph/trust'))).toBe(false);
  });
});
