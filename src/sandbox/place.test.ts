import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeRepo } from '../../test/support/repo.ts';
import { placeOf } from './place.ts';

/** A folder `p` and one below it, with what the test puts around them. */
function setUp({ git = true } = {}) {
  const repo = makeRepo({ git, files: { 'p/below/file': '1' } });
  return { repo, rootOf: (...at: string[]) => placeOf({ cwd: repo.path(...at), env: repo.env }).root };
}

describe('what is writable in a sandbox', () => {
  it('is the working copy around the folder of the loop, also in a linked worktree', () => {
    const { repo, rootOf } = setUp();
    expect(rootOf('p', 'below')).toBe(repo.cwd);
    repo.git('checkout', '--quiet', '--detach');
    expect(rootOf('p', 'below')).toBe(repo.cwd);
    repo.git('worktree', 'add', '--quiet', 'side');
    expect(rootOf('side', 'p')).toBe(repo.path('side'));
  });

  it.each([
    ['a folder .git with something in it', { '.git/leftover': '' }],
    ['a HEAD that is none', { '.git/HEAD': 'nothing\n', '.git/objects/x': '', '.git/refs/x': '' }],
    ['a HEAD and nothing else', { '.git/HEAD': 'ref: refs/heads/main\n' }],
    ['a pointer to a repository that is gone', { '.git': 'gitdir: /gone/.git/worktrees/x\n' }],
  ])('is only the folder of the loop where above it is %s', (_what, files) => {
    const { repo, rootOf } = setUp({ git: false });
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(repo.path(path, '..'), { recursive: true });
      writeFileSync(repo.path(path), content);
    }
    expect(rootOf('p')).toBe(repo.path('p'));
  });

  it.each(['removed', 'broken'])('is nothing of the repository around one whose HEAD was %s', (how) => {
    const { repo, rootOf } = setUp();
    repo.git('init', '--quiet', 'p');
    expect(rootOf('p', 'below')).toBe(repo.path('p'));
    if (how === 'removed') rmSync(repo.path('p', '.git', 'HEAD'));
    else writeFileSync(repo.path('p', '.git', 'HEAD'), 'nothing\n');
    expect(rootOf('p')).toBe(repo.path('p'));
    expect(rootOf('p', 'below')).toBe(repo.path('p', 'below'));
  });
});
