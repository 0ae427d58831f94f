import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepo } from '../../test/support/repo.ts';
import { mergeWorktree } from './merge.ts';
import { createWorktree } from './worktrees.ts';

describe('the merge of a worker', () => {
  it('moves the branch forward where nothing else happened', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'b.txt', 'b');
    const merge = await mergeWorktree('one', place);
    expect(merge).toMatchObject({ kind: 'fast-forward', into: 'main', commits: 1, untracked: 0 });
    expect(repo.read('b.txt')).toBe('b');
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(await mergeWorktree('one', place)).toEqual({ kind: 'up-to-date', into: 'main' });
  });

  it('makes a merge commit where both have gone on', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'b.txt', 'b');
    write(repo.cwd, 'c.txt', 'c');
    expect(await mergeWorktree('one', place)).toMatchObject({ kind: 'merge-commit', commits: 1 });
    expect(repo.git('log', '-1', '--format=%s')).toBe('Merge the work of one (branch one)');
    expect([repo.read('b.txt'), repo.read('c.txt')]).toEqual(['b', 'c']);
  });

  it('reports conflicts and changes nothing', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'a.txt', 'theirs');
    write(place.path, 'with blank.txt', 'theirs');
    write(repo.cwd, 'a.txt', 'ours');
    write(repo.cwd, 'with blank.txt', 'ours');
    const head = repo.git('rev-parse', 'HEAD');
    await expect(mergeWorktree('one', place)).rejects.toThrow(
      'one conflicts in a.txt, with blank.txt; nothing was changed',
    );
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(repo.read('a.txt')).toBe('ours');
  });

  it('is refused while the repository has uncommitted changes, which stay as they are', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'b.txt', 'b');
    repo.write('a.txt', 'not yet');
    await expect(mergeWorktree('one', place)).rejects.toThrow('has uncommitted changes (a.txt)');
    expect(repo.read('a.txt')).toBe('not yet');
    expect(repo.exists('b.txt')).toBe(false);
  });

  it('does not write over a file that git does not know', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'b.txt', 'theirs');
    repo.write('b.txt', 'mine');
    const head = repo.git('rev-parse', 'HEAD');
    await expect(mergeWorktree('one', place)).rejects.toThrow('git refuses the merge');
    expect(repo.read('b.txt')).toBe('mine');
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  it('is refused while the worker has uncommitted changes, and counts its untracked files', async () => {
    const { place, write } = await worker();
    write(place.path, 'b.txt', 'b');
    writeFileSync(join(place.path, 'a.txt'), 'half done');
    await expect(mergeWorktree('one', place)).rejects.toThrow("'one' has uncommitted changes (a.txt)");
    writeFileSync(join(place.path, 'a.txt'), 'a');
    writeFileSync(join(place.path, 'log'), 'x');
    expect(await mergeWorktree('one', place)).toMatchObject({ kind: 'fast-forward', untracked: 1 });
  });

  it('is refused where it has no branch to go to', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'b.txt', 'b');
    repo.git('switch', '--quiet', '--detach');
    await expect(mergeWorktree('one', place)).rejects.toThrow('no branch checked out');
  });

  it('is refused in the middle of another merge', async () => {
    const { repo, place, write } = await worker();
    write(place.path, 'a.txt', 'theirs');
    write(repo.cwd, 'a.txt', 'ours');
    expect(() => repo.git('merge', '--quiet', 'one')).toThrow();
    await expect(mergeWorktree('one', place)).rejects.toThrow('in the middle of a merge');
  });
});

async function worker() {
  const repo = makeRepo({ files: { 'a.txt': 'a' } });
  const made = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
  made.keep();
  const write = (folder: string, name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    for (const words of [
      ['add', '--all'],
      ['commit', '--quiet', `--message=${name}`],
    ]) {
      execFileSync('git', words, { cwd: folder, stdio: 'pipe' });
    }
  };
  return { repo, place: made.place, write };
}
