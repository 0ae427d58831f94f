import { describe, expect, it } from 'vitest';
import { loadRarePrograms } from './commands/all.ts';
import { judgeCommand } from './judge.ts';
import type { GuardContext } from './model.ts';
import { readPolicy } from './policy-schema.ts';

await loadRarePrograms();

function judge(command: string, policy: unknown, realPath: (path: string) => string = (path) => path) {
  const context: GuardContext = {
    cwd: '/home/dev/project',
    home: '/home/dev',
    projectRoot: '/home/dev/project',
    unattended: true,
    env: {},
    policy: readPolicy(policy),
    realPath,
  };
  return judgeCommand(command, context);
}

describe('the policy of a project', () => {
  it('allows an effect on the paths that it names, and on no other', () => {
    const policy = {
      allow: [
        { effect: 'delete', path: '../scratch/**' },
        { effect: 'delete', path: '~/old/*' },
      ],
    };
    expect(judge('rm -rf ../scratch/x', policy).verdict).toBe('allow');
    expect(judge('rm -rf ~/old/a', policy).verdict).toBe('allow');
    expect(judge('rm -rf ../sibling', policy).verdict).toBe('deny');
  });

  it('allows a whole category', () => {
    expect(judge('git push --force', { allow: [{ effect: 'git' }] }).verdict).toBe('allow');
    expect(judge('git push --force; npm publish', { allow: [{ effect: 'git' }] })).toMatchObject({
      verdict: 'deny',
      category: 'supply-chain',
    });
  });

  it('denies what the guard would allow, with the reason of the project, even when another rule allows it', () => {
    const policy = {
      deny: [{ effect: 'write', path: 'migrations/**', reason: 'Add a new migration.' }],
      allow: [{ effect: 'write' }],
    };
    expect(judge("sed -i 's/a/b/' migrations/001.sql", policy)).toMatchObject({
      verdict: 'deny',
      category: 'policy',
      reason: 'Add a new migration.',
    });
    expect(judge("sed -i 's/a/b/' src/a.ts", policy).verdict).toBe('allow');
  });

  it.each([
    'rm -rf migrations',
    'rm -rf ./migrations/',
    'mv migrations old',
    'rm -rf mig*',
    'rm */001.sql',
    'chmod -R 700 .',
    'rm -rf db/../migrations',
  ])('denies %s where it takes along what a rule denies', (command) => {
    for (const path of ['migrations/**', './migrations/*.sql', '~/project/migrations/**']) {
      const deny = [
        { effect: 'delete', path },
        { effect: 'write', path },
      ];
      expect(judge(command, { deny })).toMatchObject({ verdict: 'deny', category: 'policy' });
    }
  });

  it.each([
    ['delete', 'rm -rf migrations'],
    ['delete', 'git rm -r migrations'],
    ['write', 'mv migrations old'],
    ['write', 'git mv migrations old'],
  ])('takes %s for what is done by %s', (effect, command) => {
    const deny = [{ effect, path: 'migrations/**' }];
    expect(judge(command, { deny })).toMatchObject({ verdict: 'deny', category: 'policy' });
  });

  it.each(['rm -rf dist', 'rm -rf migrations-old', 'rm *.log', 'rm -rf src/*', 'rmdir migrations', 'ls -R'])(
    'allows %s beside it',
    (command) => {
      const deny = [
        { effect: 'delete', path: 'migrations/**' },
        { effect: 'write', path: 'migrations/**' },
      ];
      expect(judge(command, { deny }).verdict).toBe('allow');
    },
  );

  it('takes a name at the root for that one alone', () => {
    const policy = { allow: [{ effect: 'delete', path: '/srv' }] };
    expect(judge('rm -rf /srv/a', policy).verdict).toBe('allow');
    expect(judge('rm -rf ~/srv/a', policy).verdict).toBe('deny');
  });

  it('follows links, to deny and to allow', () => {
    const led: Record<string, string> = {
      '/home/dev/project/m/001.sql': '/home/dev/project/migrations/001.sql',
      '/home/dev/scratch/keys/id_rsa': '/home/dev/.ssh/id_rsa',
      '/home/dev/scratch/rules': '/home/dev/project/.ralph/guard.json',
    };
    const realPath = (path: string) => led[path] ?? path;
    const deny = [{ effect: 'write', path: 'migrations/**' }];
    expect(judge('echo > m/001.sql', { deny }, realPath)).toMatchObject({ category: 'policy' });
    const allow = [{ effect: 'write', path: '../scratch/**' }];
    expect(judge('echo > ../scratch/a', { allow }, realPath).verdict).toBe('allow');
    expect(judge('echo > ../scratch/keys/id_rsa', { allow }, realPath).verdict).toBe('deny');
    expect(judge('echo > ../scratch/rules', { allow: [{ effect: 'write' }] }, realPath)).toMatchObject({
      category: 'loop-state',
    });
  });

  it('cannot open what protects the loop and the guard', () => {
    const policy = {
      allow: [
        { effect: 'write' },
        { effect: 'delete' },
        { effect: 'loop-state' },
        { effect: 'agent-settings' },
      ],
    };
    expect(judge('echo {} > .ralph/guard.json', policy).verdict).toBe('deny');
    expect(judge('rm .claude/settings.json', policy).verdict).toBe('deny');
  });

  it.each([
    [[], 'the file has to be an object'],
    [{ allow: 'all' }, 'allow has to be a list of rules'],
    [{ allow: [{ effect: 'explode' }] }, 'allow[0].effect has to be'],
    [{ allow: [{ path: 'x' }] }, 'allow[0].effect is missing'],
    [{ alow: [] }, 'the file has no "alow"'],
    [{ deny: [{ effect: 'delete', regex: 'x' }] }, 'deny[0] has no "regex"'],
  ])('says what is wrong with %j', (value, message) => {
    expect(() => readPolicy(value)).toThrow(message);
  });
});
