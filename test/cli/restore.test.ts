import { describe, expect, it } from 'vitest';
import { realRun } from '../show/web/real-run.ts';
import { runRalph } from '../support/ralph.ts';

describe('ralph restore', () => {
  it('puts the files back to an iteration, and leaves branch and commits alone', async () => {
    const repo = await realRun();
    const head = repo.git('rev-parse', 'HEAD');
    repo.git('stash', '-u');
    const { code, stdout } = await runRalph(['restore', 'latest', '1', '--yes'], repo);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('2 files changed') });
    expect(repo.read('src/added/tax.js')).toBe('export const tax = 0.19;\n');
    expect(repo.exists('src/old.js')).toBe(true);
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'the first iteration');
    await runRalph(['restore', 'latest', '2', '--yes'], repo);
    expect(repo.read('src/added/tax.js')).toBe('export const tax = 0.07;\n');
    expect(repo.exists('src/old.js')).toBe(false);
    expect(repo.exists('src/money.js')).toBe(false);
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'the second iteration');
    await runRalph(['restore', 'latest', '0', '--yes'], repo);
    repo.git('add', '-A');
    expect(repo.git('diff', '--cached', '--stat', head.trim())).toBe('');
  });

  it.each([
    ['changed', (repo: { write(path: string, text: string): void }) => repo.write('src/cart.js', 'mine\n')],
    ['new', (repo: { write(path: string, text: string): void }) => repo.write('mine.txt', 'mine\n')],
    [
      'ignored',
      (repo: { write(path: string, text: string): void; git(...args: string[]): string }) => {
        repo.git('config', 'core.excludesFile', repo.git('rev-parse', '--git-path', 'info/mine').trim());
        repo.write('.git/info/mine', 'tax.js\n');
        repo.write('src/added/tax.js', 'mine\n');
      },
    ],
  ])('refuses over a %s file that is not committed', async (_kind, edit) => {
    const repo = await realRun();
    repo.git('stash', '-u');
    edit(repo);
    const before = repo.git('status', '--porcelain', '--ignored');
    const { code, stderr } = await runRalph(['restore', 'latest', '1', '--yes'], repo);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('git stash -u') });
    expect(repo.git('status', '--porcelain', '--ignored')).toBe(before);
  });

  it('asks first, and changes nothing where nobody can be asked', async () => {
    const repo = await realRun();
    repo.git('stash', '-u');
    const { code, stderr } = await runRalph(['restore', 'latest', '1'], repo);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(repo.git('status', '--porcelain')).toBe('');
    expect((await runRalph(['restore', 'latest', '9', '--yes'], repo)).code).toBe(2);
  });
});
