import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { aStory } from '../core/review-examples.ts';
import { allowEdits, honest, prdRepo, tasksJson } from '../drive/prd/support.ts';
import { repoWith, runArgs, show, tag, work } from '../support/agent.ts';
import { type RunOptions, runRalph } from '../support/ralph.ts';
import type { Repo } from '../support/repo.ts';
import { bwrapWorks } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The scripted agent keeps its place in `bin`. */
const sandboxed = <T extends Repo>(repo: T): T & RunOptions => ({
  ...repo,
  env: { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) },
});

const inBwrap = (max: number) => runArgs(max, '--sandbox', 'bwrap');
/** A turn that does something bad, and one after it. */
const turns = (shell: string) => [{ steps: [{ shell }, work] }, { steps: [work, { text: tag }] }];
/** The home of the user, where no command of the agent can write. */
const owned = (repo: Repo) => existsSync(join(repo.home, 'owned.txt'));

const evilRepository = [
  'git init -q . && echo a > a.txt && echo "* filter=x" > .gitattributes && git add -A',
  'git config filter.x.clean "touch ~/owned.txt; cat" && git config core.fsmonitor "touch ~/owned.txt; false"',
  'echo b > a.txt',
].join('; ');

describe.skipIf(!bwrapWorks())('between the turns in bwrap, ralph', () => {
  it('asks the repository that was there at the start, not one that the agent made around its folder', async () => {
    const files = { 'sub/.ralph/settings.json': '{"agent":{"command":"claude"}}', 'sub/a.txt': 'a\n' };
    const repo = await repoWith(turns(evilRepository), {}, { files });
    const { code, stdout, stderr } = await runRalph(inBwrap(3), {
      ...sandboxed(repo),
      cwd: repo.path('sub'),
    });
    expect(code, stdout + stderr).toBe(0);
    expect(owned(repo)).toBe(false);
  });

  it('asks no repository where there was none, neither in this run nor in the next', async () => {
    const repo = await repoWith([...turns(evilRepository), ...turns('true')], {}, { git: false });
    for (const _run of [1, 2]) {
      const { code, stdout, stderr } = await runRalph(inBwrap(3), sandboxed(repo));
      expect(code, stdout + stderr).toBe(0);
    }
    expect(owned(repo)).toBe(false);
  });

  it('runs no filter of the user that is a program in the project', async () => {
    const files = { 'clean.sh': '#!/bin/sh\ncat\n', '.gitattributes': '*.txt filter=own\n', 'a.txt': 'a\n' };
    const evil = 'printf "#!/bin/sh\\ntouch ~/owned.txt\\ncat\\n" > clean.sh; echo b > a.txt';
    const repo = await repoWith(turns(evil), {}, { files });
    repo.git('config', 'filter.own.clean', 'sh ./clean.sh');
    repo.git('config', 'filter.own.required', 'true');
    const { code, stdout, stderr } = await runRalph(inBwrap(3), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(owned(repo)).toBe(false);
    // The same is run by whoever asks git without care.
    repo.git('status', '--short');
    expect(owned(repo)).toBe(true);
  });

  it('runs no git and no bwrap that the agent put on its PATH', async () => {
    const evil = ['git', 'bwrap', 'claude'].map(
      (name) => `printf '#!/bin/sh\\necho ${name} >> ~/owned.txt; exit 1\\n' > node_modules/.bin/${name}`,
    );
    const files = { 'node_modules/.bin/tool': '' };
    const script = [...evil, 'chmod +x node_modules/.bin/*'].join('; ');
    const repo = await repoWith([...turns(script), ...turns('true')], {}, { files });
    const bin = [repo.path('node_modules', '.bin'), 'node_modules/.bin', repo.bin].join(delimiter);
    for (const _run of [1, 2]) {
      const { code, stdout, stderr } = await runRalph(inBwrap(3), { ...sandboxed(repo), bin });
      expect(code, stdout + stderr).toBe(0);
    }
    expect(owned(repo)).toBe(false);
  });

  it.each([
    ['PROMPT.md', 'ln -sf ~/.ssh/id_rsa PROMPT.md'],
    ['task/PROMPT.md', 'rm -r task; ln -s ~/.ssh task'],
  ])('takes no key for the prompt %s: %s', async (file, swap) => {
    const files = { [file]: 'Do the task.\n' };
    const repo = await repoWith(
      [{ steps: [{ shell: swap }, work] }, { steps: [{ text: tag }] }],
      {},
      { files },
    );
    mkdirSync(join(repo.home, '.ssh'));
    for (const name of ['id_rsa', 'PROMPT.md']) writeFileSync(join(repo.home, '.ssh', name), 'SECRET\n');
    const words = ['run', '--prompt-file', file, '-m', '3', '--completion-promise', 'DONE'];
    const { code, stderr } = await runRalph([...words, '--sandbox', 'bwrap'], sandboxed(repo));
    expect({ code, stderr }).toEqual({
      code: expect.any(Number),
      stderr: expect.stringContaining('is a symlink; nothing is read through one.'),
    });
    expect(code).not.toBe(0);
    const calls = await repo.agent.calls();
    expect(calls).toHaveLength(1);
    expect(JSON.stringify(calls)).not.toContain('SECRET');
  });

  it('passes on no file that was open when it was started', async () => {
    const repo = await repoWith(turns('cat /proc/self/fd/200 > got.txt; ls /proc/self/fd > fds.txt'));
    const secret = join(repo.home, 'secret.txt');
    writeFileSync(secret, 'SECRET\n');
    const through = ['bash', '-c', 'exec 200<"$0"; exec "$@"', secret];
    const { code, stdout, stderr } = await runRalph(inBwrap(3), { ...sandboxed(repo), through });
    expect(code, stdout + stderr).toBe(0);
    expect(repo.read('got.txt')).toBe('');
    expect(
      repo
        .read('fds.txt')
        .trim()
        .split('\n')
        .map(Number)
        .filter((fd) => fd > 9),
    ).toEqual([]);
    expect((await show(repo)).iterations).toBe(2);
  });

  it.each([
    [['add -A', 'commit'], 'a filter and a monitor of a repository in this one'],
    [['commit', 'push'], 'what a submodule names for its own push'],
  ])('runs nothing of the agent for the tasks %j: %s', async (tasks) => {
    const evil = [
      'git init -q -b main evil && cd evil && git config user.name x && git config user.email x@example.com',
      'git commit -q --allow-empty -m x && git update-ref refs/remotes/origin/old HEAD && echo "* filter=x" > .gitattributes',
      'git add -A && git commit -qm y && git remote add origin ../../remote.git && git config branch.main.remote origin',
      'git config branch.main.merge refs/heads/main && git config remote.origin.receivepack "touch ~/owned.txt; false"',
      'git config filter.x.clean "touch ~/owned.txt; cat" && git config core.fsmonitor "touch ~/owned.txt; false"',
      'cd .. && git add evil && git commit -qm link && echo more >> README.md && echo more >> evil/.gitattributes',
    ].join(' && ');
    const repo = await repoWith(
      [{ steps: [{ shell: evil }, work, { text: tag }] }, { steps: [{ text: 'Add more' }] }],
      { scm: { tasks } },
      { files: { 'README.md': 'x\n' } },
    );
    const remote = repo.path('..', 'remote.git');
    repo.git('init', '-q', '--bare', remote);
    repo.git('remote', 'add', 'origin', remote);
    repo.git('push', '-q', '-u', 'origin', 'HEAD');
    repo.git('config', 'submodule.recurse', 'true');
    const { code, stdout, stderr } = await runRalph(inBwrap(1), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    for (const task of tasks) expect(stdout).toContain(`SCM ${task}: `);
    expect(stdout).not.toContain('failed');
    expect(owned(repo)).toBe(false);
    // The same is run by whoever asks git without care.
    try {
      repo.git(...(tasks[1] === 'push' ? ['push', `${remote}/.`, 'HEAD:refs/heads/again'] : ['add', '-A']));
    } catch {
      // It did what the agent wanted, and failed then.
    }
    expect(owned(repo)).toBe(true);
  });

  it('takes in what others pushed by a fetch and a rebase, where a pull inside finds no remote', async () => {
    const tasks = ['commit', 'fetch', 'rebase', 'push'];
    const change = { shell: 'echo more >> README.md' };
    const repo = await repoWith(
      [{ steps: [change, { text: tag }] }, { steps: [{ text: 'Add more' }] }],
      { scm: { tasks } },
      { files: { 'README.md': 'x\n' } },
    );
    const remote = join(repo.home, 'remote.git');
    repo.git('init', '-q', '--bare', remote);
    repo.git('remote', 'add', 'origin', remote);
    repo.git('commit', '-q', '--allow-empty', '-m', 'theirs');
    repo.git('push', '-q', '-u', 'origin', 'HEAD');
    repo.git('reset', '-q', '--hard', 'HEAD~1');
    const { code, stdout, stderr } = await runRalph(inBwrap(1), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    const log = repo.git('log', '-2', '--format=%s', '@{upstream}');
    expect(log.split('\n'), stdout).toEqual(['Add more', 'theirs']);
  });

  it('pushes inside by a program other than git, which obeys who knows what, and keeps its settings', async () => {
    const repo = await repoWith(
      [
        { steps: [{ shell: 'echo owned > .hg/hgrc; mv .hg .gone; echo owned >> .hg/requires' }, work] },
        { steps: [work, { text: tag }] },
      ],
      { scm: { command: 'hg', tasks: ['push --force'] } },
      { files: { '.hg/requires': 'store\n' } },
    );
    // The home of a sandbox is another one.
    const script = '#!/bin/sh\necho "$@" >> ~/ran.txt; echo "$@" >> ran.txt\n';
    writeFileSync(join(repo.bin, 'hg'), script, { mode: 0o755 });
    const { code, stdout, stderr } = await runRalph(inBwrap(2), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(repo.read('ran.txt')).toContain('push --force');
    expect(existsSync(join(repo.home, 'ran.txt'))).toBe(false);
    expect(repo.read('.hg/requires')).toBe('store\n');
    expect(existsSync(repo.path('.hg', 'hgrc'))).toBe(false);
  });

  it.each(['./push.sh', 'push.sh'])('pushes inside by a program of the project: %s', async (command) => {
    const repo = await repoWith(turns('true'), { scm: { command, tasks: ['push'] } });
    writeFileSync(repo.path('push.sh'), '#!/bin/sh\ntouch ~/owned.txt pushed.txt\n', { mode: 0o755 });
    const bin = [repo.cwd, repo.bin].join(delimiter);
    const { stdout } = await runRalph(inBwrap(2), { ...sandboxed(repo), bin });
    expect(stdout).toContain('SCM push: ');
    expect([owned(repo), existsSync(repo.path('pushed.txt'))]).toEqual([false, true]);
  });

  it('is not kept waiting by a pipe in the place of a file that must not change', async () => {
    const evil = { shell: 'rm README.md; mkfifo README.md' };
    const repo = await repoWith([{ steps: [evil, work, { text: tag }] }], { protectedPaths: ['README.md'] });
    const { code, stdout } = await runRalph(inBwrap(1), sandboxed(repo));
    expect(code, stdout).toBe(1);
    expect(stdout).toContain('README.md');
  });

  it('writes no log of a PRD through a link', async () => {
    const repo = prdRepo(tasksJson(aStory('US-001')));
    allowEdits(repo);
    const outside = join(repo.home, 'outside');
    mkdirSync(outside);
    const swap = { shell: `rm -rf ralph/logs; ln -s '${outside}' ralph/logs` };
    const script = {
      turns: [
        { steps: [honest.implements('US-001'), swap, { text: 'Implemented.' }] },
        { steps: [honest.approves('US-001', 1), { text: '<promise>COMPLETE</promise>' }] },
      ],
    };
    await installFakeAgent(repo.bin, { agent: 'claude', script });
    const { code, stdout, stderr } = await runRalph(['prd', 'run', '--sandbox', 'bwrap'], sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(readdirSync(outside)).toEqual([]);
    expect(lstatSync(repo.path('ralph', 'logs')).isDirectory()).toBe(true);
  });
});
