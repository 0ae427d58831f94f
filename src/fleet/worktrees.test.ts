import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepo, type Repo } from '../../test/support/repo.ts';
import { processIdentity } from '../os/process/process-identity.ts';
import { signalPaths } from './files/paths.ts';
import { dirtIn, removeWorktree } from './worktree-dirt.ts';
import { abandonedIntents, createWorktree, undoWorktree, worktreeExists, writeIntent } from './worktrees.ts';

describe('a new worktree', () => {
  it('stands beside the repository, on a branch of the name of the worker', async () => {
    const repo = room();
    const made = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
    made.keep();
    const path = join(dirname(repo.cwd), 'the repo-worktrees', 'one');
    expect(made.place).toEqual({ path, branch: 'one', base_repo: repo.cwd });
    expect(existsSync(join(path, 'a.txt'))).toBe(true);
    expect(repo.git('-C', path, 'branch', '--show-current')).toBe('one');
    expect(await worktreeExists(made.place)).toBe(true);
    expect(intents(repo)).toEqual([]);
  });

  it('goes where it is told, on the branch it is told, also from a folder below', async () => {
    const repo = room({ 'sub/b.txt': 'b' });
    const order = { name: 'one', cwd: repo.path('sub'), branch: 'work/it', dir: '../trees here' };
    const made = await createWorktree(repo.env, order);
    expect(made.place.path).toBe(repo.path('trees here', 'one'));
    expect(repo.git('-C', made.place.path, 'branch', '--show-current')).toBe('work/it');
  });

  it('takes a branch that is there, and a worktree of it that is there', async () => {
    const repo = room();
    repo.git('branch', 'one');
    const first = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
    first.keep();
    writeFileSync(join(first.place.path, 'work.txt'), 'work');
    const second = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
    expect(second.place).toEqual(first.place);
    await second.undo();
    expect(existsSync(join(first.place.path, 'work.txt'))).toBe(true);
  });

  it('leaves nothing when it is taken back', async () => {
    const repo = room();
    const made = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
    await made.undo();
    expectNothing(repo, made.place.path);
  });

  it('keeps a branch that was there before when it is taken back', async () => {
    const repo = room();
    repo.git('branch', 'one');
    await (await createWorktree(repo.env, { name: 'one', cwd: repo.cwd })).undo();
    expect(repo.git('branch', '--format=%(refname:short)').split('\n')).toEqual(['main', 'one']);
  });

  it.each([
    ['a place that is taken', { name: 'one', dir: '../taken' }, 'something in the place'],
    ['a name that is no branch', { name: 'one', branch: 'a..b' }, 'no name for a branch'],
    ['a name that looks like an option', { name: 'one', branch: '--force' }, 'no name for a branch'],
    ['a branch that is checked out elsewhere', { name: 'one', branch: 'main' }, 'already checked out'],
  ])('is refused for %s, and nothing stays behind', async (_, order, why) => {
    const repo = room();
    mkdirSync(join(repo.cwd, '..', 'taken', 'one'), { recursive: true });
    writeFileSync(join(repo.cwd, '..', 'taken', 'one', 'mine.txt'), 'mine');
    await expect(createWorktree(repo.env, { cwd: repo.cwd, ...order })).rejects.toThrow(why);
    expect(existsSync(join(repo.cwd, '..', 'taken', 'one', 'mine.txt'))).toBe(true);
    expectNothing(repo, join(dirname(repo.cwd), 'the repo-worktrees', 'one'));
  });

  it('is refused outside of a repository and in one without commits', async () => {
    const outside = makeRepo({ git: false });
    const make = () => createWorktree(outside.env, { name: 'one', cwd: outside.cwd });
    await expect(make()).rejects.toThrow('not in a git repository');
    outside.git('init', '--quiet');
    await expect(make()).rejects.toThrow('without commits');
  });

  it('is rolled back when the checkout fails', async () => {
    const repo = room();
    const id = repo.git('rev-parse', 'HEAD:a.txt');
    rmSync(repo.path('.git', 'objects', id.slice(0, 2), id.slice(2)));
    await expect(createWorktree(repo.env, { name: 'one', cwd: repo.cwd })).rejects.toThrow('cannot be made');
    expectNothing(repo, join(dirname(repo.cwd), 'the repo-worktrees', 'one'));
  });
});

describe('a worktree that a crash left half made', () => {
  it.each([
    ['before the first step', () => {}],
    ['with the branch only', (repo: Repo) => repo.git('branch', 'one')],
    ['with an empty folder', (_: Repo, path: string) => mkdirSync(path, { recursive: true })],
    ['in the middle of the checkout', halfCheckedOut],
    ['when it was whole', (repo: Repo, path: string) => repo.git('worktree', 'add', '-q', '-b', 'one', path)],
  ])('is cleaned up: %s', async (_, crash) => {
    const repo = room();
    const place = { path: join(repo.cwd, '..', 'trees', 'one'), branch: 'one', base_repo: repo.cwd };
    const newBranchAt = repo.git('rev-parse', 'HEAD');
    const intent = { name: 'one', place, newBranchAt };
    writeIntent(repo.env, intent);
    crash(repo, place.path);
    expect(abandonedIntents(repo.env)).toEqual([intent]);
    expect(await undoWorktree(repo.env, intent)).toBe(true);
    expectNothing(repo, place.path);
  });

  it('is not taken for one while its maker goes on', () => {
    const repo = room();
    const place = { path: join(repo.cwd, '..', 'trees', 'one'), branch: 'one', base_repo: repo.cwd };
    writeIntent(repo.env, { name: 'one', place, newBranchAt: null });
    const { lock } = signalPaths(repo.env, 'one');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, JSON.stringify({ ...processIdentity(process.ppid), token: 'x', info: {} }));
    expect(abandonedIntents(repo.env)).toEqual([]);
  });

  it('is left alone where somebody has worked in it', async () => {
    const repo = room();
    const path = join(repo.cwd, '..', 'trees', 'one');
    repo.git('worktree', 'add', '-q', '-b', 'one', path);
    writeFileSync(join(path, 'work.txt'), 'work');
    const place = { path, branch: 'one', base_repo: repo.cwd };
    const intent = { name: 'one', place, newBranchAt: repo.git('rev-parse', 'HEAD') };
    expect(await undoWorktree(repo.env, intent)).toBe(false);
    expect(existsSync(join(path, 'work.txt'))).toBe(true);
  });
});

describe('the removal of a worktree', () => {
  it('keeps the branch, and finds nothing to do the second time', async () => {
    const { repo, place } = await worker();
    expect(await removeWorktree(place, false)).toEqual({ removed: true });
    expect(existsSync(place.path)).toBe(false);
    expect(repo.git('branch', '--list', 'one')).toContain('one');
    expect(await removeWorktree(place, false)).toEqual({ removed: true });
  });

  it.each<[string, (path: string, repo: Repo) => void, string]>([
    [
      'a changed file',
      (path) => writeFileSync(join(path, 'a.txt'), 'changed'),
      'uncommitted changes (1 file)',
    ],
    [
      'an untracked file',
      (path) => writeFileSync(join(path, 'new.txt'), 'x'),
      'uncommitted changes (1 file)',
    ],
    ['a commit', (path) => commit(path), '1 commit that is not merged or pushed'],
    [
      'a commit that no branch has',
      (path) => {
        git(path, 'switch', '--quiet', '--detach');
        commit(path);
      },
      '1 commit that is not merged or pushed',
    ],
    [
      'a stash',
      (path) => {
        writeFileSync(join(path, 'a.txt'), 'changed');
        git(path, 'stash', '--quiet');
      },
      '1 stash',
    ],
    [
      'a file that git ignores',
      (path, repo) => {
        writeFileSync(join(repo.cwd, '.git/info/exclude'), '.env\n');
        writeFileSync(join(path, '.env'), 'KEY=1');
      },
      '1 ignored file (.env)',
    ],
    [
      'a history that cannot be read',
      (path, repo) => {
        commit(path);
        git(path, 'commit', '--quiet', '--allow-empty', '-m', 'more');
        const lost = repo.git('rev-parse', 'one~1').trim();
        rmSync(join(repo.cwd, '.git/objects', lost.slice(0, 2), lost.slice(2)));
      },
      'something that git cannot read',
    ],
  ])('is refused for %s, and done by force', async (_, work, why) => {
    const { repo, place } = await worker();
    work(place.path, repo);
    const refused = await removeWorktree(place, false);
    expect(refused).toMatchObject({ removed: false, because: `worktree has ${why}` });
    expect(existsSync(place.path)).toBe(true);
    expect(await removeWorktree(place, true)).toEqual({ removed: true });
    expect(existsSync(place.path)).toBe(false);
  });

  it('goes for commits that are merged, or pushed', async () => {
    const merged = await worker();
    commit(merged.place.path);
    merged.repo.git('merge', '--quiet', 'one');
    expect(await removeWorktree(merged.place, false)).toEqual({ removed: true });

    const pushed = await worker();
    const remote = join(pushed.repo.cwd, '..', 'remote.git');
    git(pushed.repo.cwd, 'init', '--quiet', '--bare', remote);
    pushed.repo.git('remote', 'add', 'origin', remote);
    commit(pushed.place.path);
    git(pushed.place.path, 'push', '--quiet', 'origin', 'one');
    expect(await dirtIn(pushed.place)).toBe('');
    expect(await removeWorktree(pushed.place, false)).toEqual({ removed: true });
  });

  it('does not mind folders that git ignores', async () => {
    const { place } = await worker({ '.gitignore': 'build/\n' });
    mkdirSync(join(place.path, 'build'));
    writeFileSync(join(place.path, 'build', 'out'), 'x');
    expect(await removeWorktree(place, false)).toEqual({ removed: true });
  });

  it('forgets a worktree whose folder is gone, unless its commits are nowhere else', async () => {
    const { repo, place } = await worker();
    commit(place.path);
    rmSync(place.path, { recursive: true });
    expect(await removeWorktree(place, false)).toMatchObject({ removed: false });
    repo.git('merge', '--quiet', 'one');
    expect(await removeWorktree(place, false)).toEqual({ removed: true });
    expect(repo.git('worktree', 'list')).not.toContain('one');
  });
});

function room(files: Record<string, string> = {}): Repo {
  return makeRepo({ files: { 'a.txt': 'a', ...files } });
}

async function worker(files: Record<string, string> = {}) {
  const repo = room(files);
  const made = await createWorktree(repo.env, { name: 'one', cwd: repo.cwd });
  made.keep();
  return { repo, place: made.place };
}

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, stdio: 'pipe' });
}

function commit(path: string): void {
  writeFileSync(join(path, 'work.txt'), 'work');
  git(path, 'add', '--all');
  git(path, 'commit', '--quiet', '--message=Work');
}

/** What kill -9 leaves of `git worktree add`: registered and locked, some files, no index. */
function halfCheckedOut(repo: Repo, path: string): void {
  repo.git('worktree', 'add', '-q', '-b', 'one', '--no-checkout', path);
  repo.git('worktree', 'lock', '--reason', 'initializing', path);
  writeFileSync(join(path, 'a.txt'), 'a');
}

function intents(repo: Repo): string[] {
  const folder = join(repo.home, '.swarm', 'worktrees');
  return existsSync(folder) ? readdirSync(folder) : [];
}

function expectNothing(repo: Repo, path: string): void {
  expect(existsSync(path)).toBe(false);
  expect(repo.git('branch', '--format=%(refname:short)')).toBe('main');
  expect(repo.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(intents(repo)).toEqual([]);
}
