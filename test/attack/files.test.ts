import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type RepoWithAgent, repoWith, runArgs, tag, work } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';
import { actAs, everybody } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000 });

const key = 'PRIVATE-KEY-7f3a';
const guardrails = [{ command: 'true' }];
const turn = { steps: [work, { text: tag }] };

/** A repository with a run, and a key in the home of its user. */
async function repoWithRun(): Promise<{ repo: RepoWithAgent; run: string }> {
  const repo = await repoWith([turn, turn], { guardrails });
  expect((await runRalph(runArgs(1), repo)).code).toBe(0);
  repo.write('../home/.ssh/id', `${key}\n`);
  const [run = ''] = readdirSync(repo.path('.ralph/runs'));
  return { repo, run };
}

describe.each(everybody())('a link below .ralph, for $name', (who) => {
  actAs(who);

  it.each([
    ['a prompt', (run: string) => [`.ralph/runs/${run}/iterations/001.prompt.md`, '.ssh/id']],
    ['the folder of the prompts', (run: string) => [`.ralph/runs/${run}/iterations`, 'planted']],
    ['the log of a guardrail', () => ['.ralph/guardrail_1_true.log', '.ssh/id']],
  ])('brings nothing from outside into a report in the place of %s', async (_, place) => {
    const { repo, run } = await repoWithRun();
    repo.write('../home/planted/001.prompt.md', key);
    const [path = '', target = ''] = place(run);
    rmSync(repo.path(path), { recursive: true });
    symlinkSync(join(repo.home, target), repo.path(path));
    const { code, stdout, stderr } = await runRalph(['report', '-o', '-'], repo);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(run);
    expect(stdout).not.toContain(key);
  });

  it('is no place for runs or settings', async () => {
    const { repo } = await repoWithRun();
    renameSync(repo.path('.ralph/runs'), join(repo.home, 'runs'));
    symlinkSync(join(repo.home, 'runs'), repo.path('.ralph/runs'));
    const shown = await runRalph(['show'], repo);
    expect({ code: shown.code, stderr: shown.stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a link out of'),
    });
    rmSync(repo.path('.ralph/settings.json'));
    symlinkSync(join(repo.home, '.ssh/id'), repo.path('.ralph/settings.json'));
    const { code, stderr } = await runRalph(['config'], repo);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('is a link out of') });
    expect(stderr).not.toContain(key);
  });

  it('may lead to another place in it', async () => {
    const { repo } = await repoWithRun();
    renameSync(repo.path('.ralph/runs'), repo.path('.ralph/old'));
    symlinkSync('old', repo.path('.ralph/runs'));
    expect((await runRalph(['show'], repo)).code).toBe(0);
  });
});

describe.each(everybody())('a named pipe, for $name', (who) => {
  actAs(who);

  it.each([
    ['journal.ndjson', ['show', 'runs', 'stats', 'verdict', 'run --resume']],
    ['lock', ['run -p x -m 1', 'note x']],
    ['settings.json', ['run -p x -m 1', 'config', 'doctor']],
  ])('in the place of %s is refused at once', async (name, commands) => {
    const { repo, run } = await repoWithRun();
    const path = repo.path(name.startsWith('journal') ? `.ralph/runs/${run}/${name}` : `.ralph/${name}`);
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
    for (const command of commands) {
      const { code, stdout, stderr } = await runRalph(command.split(' '), repo);
      expect({ command, code }).not.toEqual({ command, code: 0 });
      expect(`${stdout}${stderr}`).toContain('is not a regular file');
    }
  });
});

describe.each(everybody())('a report, for $name', (who) => {
  actAs(who);

  it('is for the eyes of its owner', async () => {
    const { repo, run } = await repoWithRun();
    mkdirSync(repo.path('out'));
    for (const file of [`report-${run}.html`, 'out/a.md']) {
      const words = file.endsWith('.md') ? ['--md', '-o', file] : [];
      expect((await runRalph(['report', ...words], repo)).code).toBe(0);
      const { mode, uid } = statSync(repo.path(file));
      expect({ mode: mode & 0o777, uid }).toEqual({ mode: 0o600, uid: who.uid });
    }
  });
});

describe.each(everybody())('the configuration of git in a working copy, for $name', (who) => {
  actAs(who);

  it('starts nothing in commands that only read', async () => {
    const { repo, run } = await repoWithRun();
    repo.write('.gitattributes', '* filter=x diff=x merge=x\n');
    repo.git('add', '--all');
    repo.git('commit', '--quiet', '--message=attributes');
    repo.write('work.txt', 'more\n');
    const spy = join(repo.home, 'spy');
    writeFileSync(spy, `#!/bin/sh\necho "$0 $*" >> '${repo.home}/spied'\ncat\n`, { mode: 0o755 });
    for (const key of [
      ...['filter.x.clean', 'filter.x.smudge', 'filter.x.process', 'diff.x.command', 'diff.x.textconv'],
      ...['diff.external', 'core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand', 'core.askPass'],
      ...['gpg.program', 'credential.helper', 'merge.x.driver', 'remote.origin.uploadpack', 'core.gitProxy'],
    ])
      repo.git('config', key, spy);
    repo.git('config', 'log.showSignature', 'true');
    repo.git('config', 'core.hooksPath', join(repo.home, 'hooks'));
    mkdirSync(join(repo.home, 'hooks'));
    for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'fsmonitor-watchman'])
      symlinkSync(spy, join(repo.home, 'hooks', hook));
    for (const words of [
      ...[['show'], ['show', run, '--diff'], ['show', run, '--diff', '1'], ['runs'], ['stats'], ['verdict']],
      ...[['report', '-o', '-'], ['report', '--md', '-o', '-'], ['doctor'], ['config', '--explain']],
      ...[
        ['trust', '--show'],
        ['guard', 'check', 'git status'],
        ['sandbox', 'status'],
      ],
    ]) {
      await runRalph(words, repo);
      expect(repo.exists('../home/spied') && repo.read('../home/spied'), words.join(' ')).toBe(false);
    }
    // The trap works.
    repo.git('status');
    expect(repo.exists('../home/spied')).toBe(true);
  });
});
