import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { diffBetween } from '../../src/os/git/git-diff.ts';
import { makeFleet } from '../fleet/swarm/fleet.ts';
import { bwrapWorks } from '../sandbox/support.ts';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { type RunOptions, runRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { actAs, everybody } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000 });

const sandboxed = <T extends Repo>(repo: T): T & RunOptions => ({
  ...repo,
  env: { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) },
});
const inBwrap = (max: number) => runArgs(max, '--sandbox', 'bwrap');
const owned = (repo: Repo) => existsSync(join(repo.home, 'owned.txt'));
const evil = (repo: Repo) => `#!/bin/sh\ntouch '${join(repo.home, 'owned.txt')}'\n`;
const done = { steps: [work, { text: tag }] };

/** A program of the user that writes down where it is and what it got. */
function installTeller(repo: Repo): string {
  const path = join(repo.home, 'tell');
  writeFileSync(path, '#!/bin/sh\n{ pwd; env; } > "$HOME/told.txt"\n', { mode: 0o755 });
  return path;
}
const told = (repo: Repo) => readFileSync(join(repo.home, 'told.txt'), 'utf8');

const sandboxUsers = everybody().filter(bwrapWorks);

describe.each(sandboxUsers)('a notify program of a sandboxed loop, for $name', (who) => {
  actAs(who);

  it.each([
    ['the program', ['./tell.sh']],
    ['a script for a program', ['sh', 'tell.sh']],
    ['a script in a command line', ['sh', '-c', './tell.sh']],
  ])('is refused at the start if the agent could have written it: %s', async (_what, command) => {
    const files = { 'tell.sh': '#!/bin/sh\n' };
    const swap = { shell: "printf '#!/bin/sh\\ntouch ~/owned.txt\\n' > tell.sh" };
    const repo = await repoWith([{ steps: [swap, work, { text: tag }] }], { notify: { command } }, { files });
    chmodSync(repo.path('tell.sh'), 0o755);
    const { code, stderr } = await runRalph(inBwrap(1), sandboxed(repo));
    expect(owned(repo)).toBe(false);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('which is in the project') });
    expect(await repo.agent.calls()).toEqual([]);
  });

  it('starts outside of the project, so that nothing there is obeyed', async () => {
    const repo = await repoWith([done]);
    const command = [installTeller(repo)];
    repo.write('.ralph/settings.json', JSON.stringify({ agent: { command: 'claude' }, notify: { command } }));
    const { code, stdout, stderr } = await runRalph(inBwrap(1), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(told(repo).split('\n')[0]).toBe(repo.home);
  });
});

describe.each(everybody())('a program that tells the user something, for $name', (who) => {
  actAs(who);

  it('gets no loader variables and no PATH of the project', async () => {
    const repo = await repoWith([done]);
    const command = [installTeller(repo)];
    repo.write('.ralph/settings.json', JSON.stringify({ agent: { command: 'claude' }, notify: { command } }));
    const bin = [repo.path('node_modules', '.bin'), repo.bin].join(delimiter);
    const env = {
      ...repo.env,
      PYTHONPATH: repo.cwd,
      LD_LIBRARY_PATH: repo.cwd,
      BASH_ENV: 'x',
      TELL_TOKEN: 'mine',
    };
    const { code, stdout, stderr } = await runRalph(runArgs(1), { ...repo, bin, env });
    expect(code, stdout + stderr).toBe(0);
    expect(told(repo)).not.toContain(repo.path('node_modules'));
    expect(told(repo)).not.toMatch(/^(PYTHONPATH|LD_LIBRARY_PATH|BASH_ENV)=/m);
    expect(told(repo)).toMatch(/^TELL_TOKEN=mine$/m);
    expect(told(repo)).toMatch(/^RALPH_NOTICE_KIND=done$/m);
  });

  it('is no notify-send that the agent put on the PATH', async () => {
    const repo = await repoWith(
      [done],
      { notify: { desktop: true } },
      { files: { 'node_modules/.bin/x': '' } },
    );
    const file = 'node_modules/.bin/notify-send';
    writeFileSync(repo.path(file), evil(repo), { mode: 0o755 });
    const bin = [repo.path('node_modules', '.bin'), repo.bin].join(delimiter);
    const env = { ...repo.env, DISPLAY: ':99' };
    await runRalph(['notify', 'test', 'desktop'], { ...repo, bin, env });
    expect(owned(repo)).toBe(false);
    execFileSync(repo.path(file));
    expect(owned(repo)).toBe(true);
  });
});

describe.each(sandboxUsers)('a sandboxed run, for $name', (who) => {
  actAs(who);

  it('says at the start that checks run outside, where they do', async () => {
    const line = 'guardrails and verify commands run outside of it';
    const outside = await repoWith([done], { sandboxChecks: false, guardrails: [{ command: 'true' }] });
    expect((await runRalph(inBwrap(1), sandboxed(outside))).stdout).toContain(line);
    const inside = await repoWith([done], { guardrails: [{ command: 'true' }] });
    expect((await runRalph(inBwrap(1), sandboxed(inside))).stdout).not.toContain(line);
  });

  it('reaches a place that is allowed by both its names', async () => {
    const server = createServer((_asked, answer) => void answer.end('REACHED'));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const script = `require("http").get("http://127.0.0.1:${port}/", (r) => r.pipe(process.stdout))`;
    const hosts = ['localhost', '127.0.0.1'].flatMap((host) => ['--allow-host', `${host}:${port}`]);
    const words = ['sandbox', 'exec', '--provider', 'bwrap', ...hosts, '--', process.execPath, '-e', script];
    expect(await runRalph(words, makeRepo())).toMatchObject({ code: 0, stdout: 'REACHED', stderr: '' });
  });
});

/** Takes an object away, so that git has to fetch it from a remote that is a command. */
function makePartial(repo: Repo): { readonly from: string; readonly to: string } {
  repo.write('a.txt', 'one\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'one');
  const from = repo.git('rev-parse', 'HEAD');
  const blob = repo.git('rev-parse', 'HEAD:a.txt');
  repo.write('a.txt', 'two\n');
  repo.git('commit', '-qam', 'two');
  rmSync(repo.path('.git', 'objects', blob.slice(0, 2), blob.slice(2)));
  for (const [name, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', `ext::touch ${join(repo.home, 'owned.txt')}`],
    ['protocol.ext.allow', 'always'],
  ] as const)
    repo.git('config', name, value);
  return { from, to: repo.git('rev-parse', 'HEAD') };
}

describe('git in a repository of a stranger', () => {
  it('fetches nothing by a command when a page shows a diff', async () => {
    const repo = makeRepo();
    const { from, to } = makePartial(repo);
    await diffBetween(repo.cwd, from, to, 1000);
    expect(owned(repo)).toBe(false);
    expect(() => repo.git('diff', from, to)).toThrow();
    expect(owned(repo)).toBe(true);
  });
});

describe.each(everybody())('git in a repository of a stranger, for $name', (who) => {
  actAs(who);

  it('runs no hook and no filter of it when a worker gets a worktree', async () => {
    const fleet = makeFleet();
    const { git, ...repo } = fleet;
    const touch = (name: string) => `touch '${join(repo.home, name)}'`;
    writeFileSync(join(repo.cwd, '.gitattributes'), '*.txt filter=x\n');
    writeFileSync(join(repo.cwd, 'a.txt'), 'a\n');
    git('add', '-A');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'attributes');
    git('config', 'filter.x.smudge', `${touch('smudged.txt')}; cat`);
    git('config', 'filter.x.clean', `${touch('cleaned.txt')}; cat`);
    git('config', 'core.fsmonitor', touch('monitored.txt'));
    mkdirSync(join(repo.cwd, '.git', 'hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction'])
      writeFileSync(join(repo.cwd, '.git', 'hooks', hook), `#!/bin/sh\n${touch(`${hook}.txt`)}\n`, {
        mode: 0o755,
      });
    const spawned = await fleet.swarm(
      'spawn',
      '--name',
      'tree',
      '--worktree',
      '--tmux-socket',
      fleet.socket,
      '--',
      'sleep',
      '600',
    );
    expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
    await fleet.swarm('kill', 'tree');
    const traces = ['smudged', 'cleaned', 'monitored', 'post-checkout', 'reference-transaction'];
    expect(traces.filter((name) => existsSync(join(repo.home, `${name}.txt`)))).toEqual([]);
    git('worktree', 'add', '-q', '-b', 'other', join(repo.home, 'other'));
    expect(existsSync(join(repo.home, 'smudged.txt'))).toBe(true);
  });
});
