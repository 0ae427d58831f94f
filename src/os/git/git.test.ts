import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { makeRepo } from '../../../test/support/repo.ts';
import { countCommits, findRepository, gitRoot, headCommit } from './git.ts';
import { treeState } from './tree-state.ts';

describe('gitRoot', () => {
  it('is the top folder, from any folder below', async () => {
    const repo = makeRepo({ files: { 'a/b/file': '1' } });
    expect(await gitRoot(repo.path('a', 'b'))).toBe(repo.cwd);
  });

  it('is null outside of a repository, and where there is no folder', async () => {
    const repo = makeRepo({ git: false });
    expect(await gitRoot(repo.cwd)).toBeNull();
    expect(await gitRoot(repo.path('gone'))).toBeNull();
  });
});

describe('findRepository', () => {
  it('agrees with git, from any folder below, and outside of a repository', async () => {
    const repo = makeRepo({ files: { 'a/b/file': '1' } });
    expect(findRepository(repo.path('a', 'b'))).toBe(await gitRoot(repo.path('a', 'b')));
    expect(findRepository(repo.home)).toBe(await gitRoot(repo.home));
  });
});

describe('without git', () => {
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
  });

  it('is null, whatever is asked', async () => {
    const { cwd, bin } = makeRepo();
    process.env.PATH = bin;
    const answers = [gitRoot(cwd), headCommit(cwd), treeState(cwd), countCommits(cwd, null)];
    expect(await Promise.all(answers)).toEqual([null, null, null, null]);
  });
});

describe.skipIf(process.platform === 'win32')('with a named pipe where git reads', () => {
  it.each([
    ...['.git/HEAD', '.git/index', '.git/refs/heads/main', '.git/packed-refs', '.git/info/exclude'],
    ...['.gitignore', '.gitattributes'],
  ])('does not wait at %s', async (path) => {
    const repo = makeRepo({ files: { file: '1' } });
    repo.git('branch', '--quiet', '--move', '--force', 'main');
    rmSync(repo.path(path), { force: true });
    execFileSync('mkfifo', [repo.path(path)]);
    expect(await treeState(repo.cwd)).toBeNull();
  });

  it('does not wait at the index of a linked worktree', async () => {
    const repo = makeRepo({ files: { file: '1' } });
    repo.git('worktree', 'add', '--quiet', 'side');
    const index = repo.path('.git', 'worktrees', 'side', 'index');
    rmSync(index);
    execFileSync('mkfifo', [index]);
    expect(await treeState(repo.path('side'))).toBeNull();
    expect(await treeState(repo.cwd)).not.toBeNull();
  });
});

describe('with the environment of another repository', () => {
  afterEach(() => {
    delete process.env.GIT_DIR;
    delete process.env.GIT_INDEX_FILE;
  });

  it('looks at the folder it was asked about', async () => {
    const other = makeRepo();
    const repo = makeRepo({ files: { file: '1' } });
    const head = repo.git('rev-parse', 'HEAD');
    process.env.GIT_DIR = other.path('.git');
    process.env.GIT_INDEX_FILE = other.path('.git', 'index');
    expect(await headCommit(repo.cwd)).toBe(head);
  });
});

describe('headCommit and countCommits', () => {
  it('follow the commits', async () => {
    const repo = makeRepo();
    const first = await headCommit(repo.cwd);
    expect(first).toBe(repo.git('rev-parse', 'HEAD'));
    repo.git('commit', '--quiet', '--allow-empty', '--message=two');
    repo.git('commit', '--quiet', '--allow-empty', '--message=three');
    expect(await headCommit(repo.cwd)).not.toBe(first);
    expect(await countCommits(repo.cwd, first)).toBe(2);
    expect(await countCommits(repo.cwd, null)).toBe(3);
    expect(await countCommits(repo.cwd, 'no-such-commit')).toBeNull();
  });

  it('know a repository without commits', async () => {
    const repo = makeRepo({ git: false });
    repo.git('init', '--quiet');
    expect(await headCommit(repo.cwd)).toBeNull();
    expect(await countCommits(repo.cwd, null)).toBe(0);
  });
});

/** The state as one text, to compare. */
async function stateText(cwd: string): Promise<string | null> {
  const state = await treeState((await gitRoot(cwd)) ?? cwd);
  return state && JSON.stringify([state.head, [...state.files]]);
}

describe('treeState', () => {
  it('changes with every kind of change, and only then', async () => {
    const repo = makeRepo({ files: { file: 'one\n', gone: 'x', 'with space and ü': '1' } });
    const states = new Set<string | null>();
    const changes = [
      () => {},
      () => repo.write('file', 'two\n'),
      () => repo.write('file', 'six\n'),
      () => repo.git('add', 'file'),
      () => rmSync(repo.path('gone')),
      () => repo.write('new/untracked', '1'),
      () => repo.write('new/untracked', '2'),
      () => repo.write('with space and ü', '2'),
      () => repo.git('add', '--all'),
      () => repo.git('commit', '--quiet', '--message=all'),
    ];
    for (const [index, change] of changes.entries()) {
      change();
      states.add(await stateText(repo.cwd));
      expect(states.size).toBe(index + 1);
      expect(await stateText(repo.cwd)).toBe([...states].at(-1));
    }
    expect(states).not.toContain(null);
  });

  it('does not mind a file that was only touched, nor what ralph writes itself', async () => {
    const repo = makeRepo({ files: { file: '1', 'sub/file': '1' } });
    repo.write('file', '2');
    const before = await stateText(repo.cwd);
    utimesSync(repo.path('file'), 1, 1);
    repo.write('.ralph/runs/1/journal.ndjson', '{}');
    repo.write('sub/.ralph/settings.json', '{}');
    expect(await stateText(repo.path('sub'))).toBe(before);
  });

  it('sees the whole repository from a folder below the top', async () => {
    const repo = makeRepo({ files: { 'a/file': '1', 'b/file': '1' } });
    const before = await stateText(repo.path('a'));
    repo.write('b/file', '2');
    expect(await stateText(repo.path('a'))).not.toBe(before);
  });

  it('works in a repository without commits', async () => {
    const repo = makeRepo({ git: false });
    repo.git('init', '--quiet');
    const before = await stateText(repo.cwd);
    repo.write('file', '1');
    expect(before).not.toBeNull();
    expect(await stateText(repo.cwd)).not.toBe(before);
  });

  it('sees changes in a repository inside the repository', async () => {
    const repo = makeRepo();
    mkdirSync(repo.path('inner'));
    repo.git('-C', 'inner', 'init', '--quiet');
    repo.write('inner/file', '1');
    const before = await stateText(repo.cwd);
    repo.write('inner/file', '22');
    expect(await stateText(repo.cwd)).not.toBe(before);
  });

  it('does not run a command that the repository names as its monitor', async () => {
    const repo = makeRepo({ files: { file: '1' } });
    writeFileSync(repo.path('.git/spy'), `#!/bin/sh\ntouch '${repo.path('spied')}'\n`, { mode: 0o755 });
    repo.git('config', 'core.fsmonitor', `'${repo.path('.git/spy')}'`);
    expect(await stateText(repo.cwd)).not.toBeNull();
    expect(existsSync(repo.path('spied'))).toBe(false);
  });
});
