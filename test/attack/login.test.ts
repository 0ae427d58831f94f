import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aStory } from '../core/review-examples.ts';
import { allowEdits, honest, prdRepo, tasksJson } from '../drive/prd/support.ts';
import type { World } from '../sandbox/probes.ts';
import { bwrapWorks } from '../sandbox/support.ts';
import { openWorlds, type Worlds } from '../sandbox/world.ts';
import { installClaude, repoWith, runArgs, tag, work } from '../support/agent.ts';
import { type RunOptions, runRalph } from '../support/ralph.ts';
import type { Repo } from '../support/repo.ts';
import { actAs, everybody, give } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The scripted agent keeps its place in `bin`. */
const sandboxed = <T extends Repo>(repo: T): T & RunOptions => ({
  ...repo,
  env: { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) },
});

const planted = ['.claude/CLAUDE.md', '.claude/settings.json', '.bashrc', '.npmrc'];
const plants = planted.map((name) => `mkdir -p ~/.claude; echo evil > ~/${name}`).join('; ');
const looks = (file: string) =>
  `cat ${planted.map((name) => `~/${name}`).join(' ')} > ${file} 2>/dev/null; true`;

const claudeLogin = (token: string) =>
  JSON.stringify({ claudeAiOauth: { accessToken: token, refreshToken: token, expiresAt: 1, scopes: ['a'] } });
/** A token that tells its account. */
const jwt = (account: string, id: string) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ sub: account, jti: id })}.c2ln`;
};
const codexLogin = (account: string, id: string) =>
  JSON.stringify({ tokens: { access_token: jwt(account, id), refresh_token: id, account_id: 'kept' } });

describe.each(everybody())('a hostile agent in the sandbox of $name', (who) => {
  describe.skipIf(!bwrapWorks(who))('where bubblewrap works', () => {
    let worlds: Worlds;
    beforeAll(async () => {
      worlds = await openWorlds({ sandbox: 'bwrap' });
    });
    afterAll(() => worlds.close());

    const inside = (world: World, agent: string, script: string) =>
      worlds.run(who, world, worlds.inside(world, script, '--agent', agent));

    async function worldWith(file: string, login: string) {
      const world = await worlds.make(who);
      mkdirSync(join(world.home, file, '..'), { recursive: true });
      writeFileSync(join(world.home, file), login);
      give(world.home, who);
      const swap = (agent: string, text: string) => inside(world, agent, `printf %s '${text}' > ~/${file}`);
      return { world, swap, login: () => readFileSync(join(world.home, file), 'utf8') };
    }

    it('puts no other account in the place of a login whose tokens say nothing', async () => {
      const { swap, login, world } = await worldWith('.claude/.credentials.json', claudeLogin('mine'));
      const { output } = await swap('claude', claudeLogin('theirs'));
      expect(login()).toBe(claudeLogin('mine'));
      const aside = /The other one is (.*?); if it is yours/.exec(output)?.[1] ?? '';
      expect(aside).toContain(world.home);
      expect(readFileSync(aside, 'utf8')).toBe(claudeLogin('theirs'));
      expect(statSync(aside).mode & 0o777).toBe(0o600);
    });

    it('puts no other account in the place of a login whose tokens say whose it is', async () => {
      const { swap, login } = await worldWith('.codex/auth.json', codexLogin('me', 'a'));
      const { output } = await swap('codex', codexLogin('somebody', 'b'));
      expect(output).toContain('it is of another account');
      expect(login()).toBe(codexLogin('me', 'a'));
    });

    it('gives back what the provider renewed for the same account', async () => {
      const { swap, login } = await worldWith('.codex/auth.json', codexLogin('me', 'a'));
      expect(await swap('codex', codexLogin('me', 'b'))).toEqual({ code: 0, output: '' });
      expect(login()).toBe(codexLogin('me', 'b'));
    });

    it('leaves no instructions in its home for the next one', async () => {
      const world = await worlds.make(who);
      await inside(world, 'claude', `${plants}; mkdir -p ~/closed/a; chmod 500 ~/closed`);
      const { output } = await inside(world, 'claude', 'ls -A ~ ~/.claude; cat ~/.bashrc');
      expect(output).not.toMatch(/CLAUDE|settings|evil|npmrc|closed/);
    });

    it('keeps a session that it can resume', async () => {
      const world = await worlds.make(who);
      const session = '~/.claude/projects/-repo/1-2.jsonl';
      await inside(world, 'claude', `mkdir -p ~/.claude/projects/-repo/memory && echo mine > ${session}`);
      expect((await inside(world, 'claude', `cat ${session}`)).output).toBe('mine\n');
    });
  });
});

const users = everybody().filter(bwrapWorks);

describe.each(users)('what an agent leaves in the home of its sandbox, for $name', (who) => {
  actAs(who);

  it('does not reach the next iteration, nor the next run', async () => {
    const turns = [
      { steps: [{ shell: plants }, work] },
      { steps: [{ shell: looks('second.txt') }, { shell: plants }, work, { text: tag }] },
      { steps: [{ shell: looks('third.txt') }, work, { text: tag }] },
    ];
    const repo = await repoWith(turns);
    for (const max of [2, 1]) {
      const { code, stdout, stderr } = await runRalph(runArgs(max, '--sandbox', 'bwrap'), sandboxed(repo));
      expect(code, stdout + stderr).toBe(0);
    }
    expect([repo.read('second.txt'), repo.read('third.txt')]).toEqual(['', '']);
  });

  it('does not reach its reviewer, sessions neither', async () => {
    const repo = prdRepo(tasksJson(aStory('US-001')));
    allowEdits(repo);
    const session = 'mkdir -p ~/.claude/projects/x; echo evil > ~/.claude/projects/x/1.jsonl';
    const turns = [
      {
        steps: [{ shell: `${plants}; ${session}` }, honest.implements('US-001'), { text: 'Implemented.' }],
      },
      {
        steps: [
          { shell: `${looks('/tmp/seen.txt')}; cat ~/.claude/projects/x/* >> /tmp/seen.txt` },
          { shell: 'cp /tmp/seen.txt .ralph-seen.txt; git add -A; git commit -qm seen' },
          honest.approves('US-001', 1),
          { text: '<promise>COMPLETE</promise>' },
        ],
      },
    ];
    await installClaude(repo, turns);
    const { code, stdout, stderr } = await runRalph(['prd', 'run', '--sandbox', 'bwrap'], sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(repo.read('.ralph-seen.txt')).toBe('');
  });

  it('does not reach the next one by the folder that stands in for .opencode', async () => {
    const repo = await repoWith([{ steps: [work] }]);
    const inside = (script: string) =>
      runRalph(
        ['sandbox', 'exec', '--provider', 'bwrap', '--agent', 'opencode', '--', 'sh', '-c', script],
        repo,
      );
    const first = await inside(
      'mkdir -p .opencode/plugin && echo evil > .opencode/plugin/x.js && cat .opencode/plugin/x.js',
    );
    expect(first.stdout).toBe('evil\n');
    expect((await inside('ls -A .opencode')).stdout).toBe('');
    expect(existsSync(repo.path('.opencode'))).toBe(false);
  });

  it('is said in the run when it is the login, once', async () => {
    const file = '.claude/.credentials.json';
    const swap = { shell: `printf %s '${claudeLogin('theirs')}' > ~/${file}` };
    const seen = { shell: `cat ~/${file} > seen.txt` };
    const repo = await repoWith([{ steps: [swap, work] }, { steps: [seen, work, { text: tag }] }]);
    mkdirSync(join(repo.home, '.claude'));
    writeFileSync(join(repo.home, file), claudeLogin('mine'));
    const { code, stdout, stderr } = await runRalph(runArgs(2, '--sandbox', 'bwrap'), sandboxed(repo));
    expect(code, stdout + stderr).toBe(0);
    expect(readFileSync(join(repo.home, file), 'utf8')).toBe(claudeLogin('mine'));
    expect(stdout.match(/was changed in the sandbox/g)).toHaveLength(1);
    // Real agents renew their login in the middle of a loop, and have to go on with it.
    expect(repo.read('seen.txt')).toBe(claudeLogin('theirs'));
    expect(readdirSync(join(repo.home, '.claude'))).toEqual(['.credentials.json']);
  });
});
