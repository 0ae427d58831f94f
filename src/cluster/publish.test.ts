import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { type Checkout, openCheckout } from './checkout.ts';
import { keepWork } from './keep-work.ts';
import type { LoopJob } from './orders.ts';
import { placesIn } from './places.ts';
import { commitWork, pushWork } from './publish.ts';
import { readIterationCommit } from './trailers.ts';

const good: TurnEnd = { how: 'exited', exitCode: 0, doneMatched: false };
let base: string;
let origin: string;
let job: LoopJob;

let template: string;

beforeAll(() => {
  template = makeTempDir('cluster-');
  git(template, 'init', '--quiet', '--initial-branch=main', 'seed');
  const seed = join(template, 'seed');
  writeFileSync(join(seed, 'README.md'), 'x\n');
  commit(seed, 'Start');
  git(template, 'clone', '--quiet', '--bare', seed, 'origin.git');
});
afterAll(() => removeTempDir(template));

beforeEach(() => {
  base = makeTempDir('cluster-');
  origin = join(base, 'origin.git');
  cpSync(template, base, { recursive: true });
  job = {
    name: 'a',
    id: '17',
    repo: origin,
    branch: 'work',
    base: null,
    prompt: '',
    command: ['true'],
    cwd: '.',
    env: {},
    pass: [],
    settings: { prompt_file: '', max_iterations: 3, done_pattern: null, inactivity_timeout: 60 },
    options: {},
  };
});

afterEach(() => removeTempDir(base));

describe('the work of an iteration', () => {
  it('is one commit with the trailers, made of all that the agent left', async () => {
    const checkout = await open('one');
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    writeFileSync(join(checkout.path, 'README.md'), 'y\n');
    await publish(checkout, 1, good);
    expect(iterationsPushed()).toEqual([1]);
    expect(git(origin, 'show', '--name-status', '--format=', 'work')).toBe('M\tREADME.md\nA\tnew.txt');
  });

  it('keeps the commits of the agent, and is an empty one then', async () => {
    const checkout = await open('one');
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    commit(checkout.path, 'Add a file');
    const after = await publish(checkout, 1, good);
    await publish(after, 2, good);
    expect(subjects()).toEqual(['Start', 'Add a file', 'ralph: iteration 1 of a', 'ralph: iteration 2 of a']);
    expect(iterationsPushed()).toEqual([1, 2]);
  });

  it('is put on top of what was there when the agent rewrote the history, whose commits are kept', async () => {
    const checkout = await publish(await open('one'), 1, good);
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    git(checkout.path, 'add', '--all');
    git(checkout.path, ...who, 'commit', '--quiet', '--amend', '--message=Mine');
    const rewritten = git(checkout.path, 'rev-parse', 'HEAD');
    const committed = await commitWork(checkout, job, 2, good);
    await pushWork(checkout, job, committed.commit ?? '');
    expect(committed.warnings).toHaveLength(1);
    expect(git(checkout.repository, 'rev-parse', committed.keptRef ?? '')).toBe(rewritten);
    expect(iterationsPushed()).toEqual([1, 2]);
    expect(git(origin, 'show', 'work:new.txt')).toBe('new');
  });

  it('is one commit when those of the agent pose as ours', async () => {
    const checkout = await open('one');
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    commit(checkout.path, 'Fix\n\nRalph-Loop: a\nRalph-Run: 17\nRalph-Iteration: 2');
    await publish(checkout, 1, good);
    expect(iterationsPushed()).toEqual([1]);
    expect(git(origin, 'show', 'work:new.txt')).toBe('new');
  });

  it('is taken from wherever the agent went: another branch, or no branch', async () => {
    const checkout = await open('one');
    git(checkout.path, 'checkout', '--quiet', '-b', 'elsewhere');
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    commit(checkout.path, 'Elsewhere');
    const after = await publish(checkout, 1, good);
    git(after.path, 'checkout', '--quiet', '--detach');
    await publish(after, 2, good);
    expect(iterationsPushed()).toEqual([1, 2]);
    expect(git(checkout.path, 'symbolic-ref', '--short', 'HEAD')).toBe('work');
  });

  it('is not pushed when another machine was faster, and nothing of it is lost', async () => {
    const [one, two] = [await open('one'), await open('two')];
    writeFileSync(join(one.path, 'one.txt'), '1\n');
    writeFileSync(join(two.path, 'two.txt'), '2\n');
    await publish(one, 1, good);
    const { commit: late } = await commitWork(two, job, 1, good);
    expect((await pushWork(two, job, late ?? '')).pushed).toMatchObject({ kind: 'fenced' });
    expect(iterationsPushed()).toEqual([1]);
    const kept = await keepWork(two, job, 'fenced');
    expect(git(two.repository, 'show', `${kept}:two.txt`)).toBe('2');
  });

  it('counts as pushed when only the answer of the server was lost', async () => {
    const checkout = await open('one');
    const { commit: committed } = await commitWork(checkout, job, 1, good);
    git(checkout.repository, 'push', '--quiet', origin, `${committed}:refs/heads/work`);
    expect((await pushWork(checkout, job, committed ?? '')).pushed).toEqual({ kind: 'pushed' });
  });

  it('says what the server said when it refuses', async () => {
    const checkout = await open('one');
    const hook = join(origin, 'hooks', 'pre-receive');
    mkdirSync(join(origin, 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { commit: committed } = await commitWork(checkout, job, 1, good);
    const { pushed } = await pushWork(checkout, job, committed ?? '');
    expect(pushed).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('pre-receive hook declined'),
    });
  });

  it('is pushed without the trailer of an iteration when a usage limit cut it, if there is any', async () => {
    const checkout = await open('one');
    const limited: TurnEnd = { how: 'limited', exitCode: 1, doneMatched: false };
    expect((await commitWork(checkout, job, 1, limited)).commit).toBeNull();
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    await publish(checkout, 1, limited);
    expect(iterationsPushed()).toEqual([]);
    expect(subjects()).toEqual(['Start', 'ralph: a part of iteration 1 of a']);
  });

  it('is whole in spite of a lock that a killed git left, and of a repository that cannot be added', async () => {
    const checkout = await open('one');
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    git(checkout.path, 'init', '--quiet', 'inner');
    const gitDir = git(checkout.path, 'rev-parse', '--absolute-git-dir');
    writeFileSync(join(gitDir, 'index.lock'), '');
    await publish(checkout, 1, good);
    expect(git(origin, 'show', 'work:new.txt')).toBe('new');
  });
});

describe('the worktree of a loop', () => {
  it('is at what the branch is on the remote, with the iterations that are there', async () => {
    await publish(await open('one'), 1, { ...good, how: 'done', doneMatched: true });
    const two = await open('two');
    expect(two.commits).toMatchObject([{ iteration: 1, end: { how: 'done', doneMatched: true } }]);
    expect(two.start).toBe(git(origin, 'rev-parse', 'work'));
    expect(git(two.path, 'rev-parse', 'HEAD')).toBe(two.start);
  });

  it('does not count the iterations of a loop that had the name before', async () => {
    await publish(await open('one'), 1, good);
    job = { ...job, id: '18' };
    expect((await open('two')).commits).toEqual([]);
  });

  it('leaves what is ignored, and keeps what an earlier try left under a ref', async () => {
    const before = await open('one');
    writeFileSync(join(before.path, '.gitignore'), 'node_modules\n');
    const after = await publish(before, 1, good);
    mkdirSync(join(after.path, 'node_modules'));
    writeFileSync(join(after.path, 'node_modules/x.js'), '');
    writeFileSync(join(after.path, 'half.txt'), 'half\n');
    const opened = await openCheckout(placesIn(join(base, 'one')), job);
    if ('why' in opened) throw new Error(opened.why);
    expect(existsSync(join(after.path, 'half.txt'))).toBe(false);
    expect(existsSync(join(after.path, 'node_modules/x.js'))).toBe(true);
    expect(git(after.repository, 'show', `${opened.keptRef}:half.txt`)).toBe('half');
    expect(await openCheckout(placesIn(join(base, 'one')), job)).toMatchObject({ keptRef: null });
  });

  it('is made anew where a crash left half of one, which is set aside', async () => {
    const places = placesIn(join(base, 'one'));
    mkdirSync(places.worktree('a'), { recursive: true });
    writeFileSync(join(places.worktree('a'), 'precious.txt'), 'x');
    const { path } = await open('one');
    expect(git(path, 'status', '--porcelain')).toBe('');
  });

  it('starts from the branch that was named', async () => {
    git(origin, 'branch', 'dev', 'main');
    job = { ...job, base: 'dev' };
    expect((await open('one')).start).toBe(git(origin, 'rev-parse', 'dev'));
    job = { ...job, base: 'none' };
    expect(await openCheckout(placesIn(join(base, 'two')), { ...job, branch: 'other' })).toMatchObject({
      kind: 'missing',
    });
  });

  it('is not made of a repository that cannot be reached, or that is a command', async () => {
    for (const repo of [join(base, 'nowhere.git'), 'ext::sh -c touch% pwned', '--upload-pack=touch pwned']) {
      const opened = await openCheckout(placesIn(join(base, 'one')), { ...job, repo });
      const kind = repo.startsWith(base) ? 'missing' : 'unprepared';
      expect(opened).toMatchObject({ kind });
    }
    expect(existsSync(join(base, 'one/pwned'))).toBe(false);
  });

  it('may belong to a loop whose name git would not take', async () => {
    for (const name of ['a..b', 'x.lock', 'end.', 'ümlaut']) {
      job = { ...job, name, branch: `b-${name.length}` };
      const checkout = await open('one');
      writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
      await publish(checkout, 1, good);
      writeFileSync(join(checkout.path, 'more.txt'), 'more\n');
      expect(await keepWork(checkout, job, 'tried')).toMatch(/^refs\/ralph\/kept\//);
    }
  });
});

const who = ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com'];

async function open(machine: string): Promise<Checkout> {
  const opened = await openCheckout(placesIn(join(base, machine)), job);
  if ('why' in opened) throw new Error(opened.why);
  return opened.checkout;
}

async function publish(checkout: Checkout, iteration: number, end: TurnEnd): Promise<Checkout> {
  const { commit: committed } = await commitWork(checkout, job, iteration, end);
  const result = await pushWork(checkout, job, committed ?? '');
  expect(result.pushed).toEqual({ kind: 'pushed' });
  return result.checkout;
}

function git(cwd: string, ...words: string[]): string {
  return execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd();
}

function commit(cwd: string, message: string): void {
  git(cwd, 'add', '--all');
  git(cwd, ...who, 'commit', '--quiet', `--message=${message}`);
}

function messages(): string[] {
  return git(origin, 'log', '--reverse', '-z', '--format=%B', 'work').split('\0').filter(Boolean);
}

function subjects(): string[] {
  return messages().map((message) => message.split('\n')[0] ?? '');
}

function iterationsPushed(): number[] {
  return messages().flatMap((message) => readIterationCommit(message)?.iteration ?? []);
}
