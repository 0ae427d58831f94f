import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEveryday } from './everyday.ts';
import { judgeCommand } from './judge.ts';

const context = {
  cwd: '/home/dev/project',
  home: '/home/dev',
  projectRoot: '/home/dev/project',
  unattended: true,
  env: {},
};

describe('isEveryday', () => {
  it.each(['ls -la src', 'pwd', 'git status', 'git add src/a.ts', 'npm test', 'npm run build', 'cargo test'])(
    'knows %s',
    (command) => {
      expect(isEveryday(command)).toBe(true);
    },
  );

  it.each([
    ...[
      'rm -rf dist',
      'git push',
      'git diff --no-index a b',
      'npm publish',
      'ls; rm -rf x',
      'ls $(id)',
      'ls\nid',
      'ls ~',
      'git status > x',
    ],
    ...['git -c a.b=c status', 'ls | sh', '', 'npm run x -- --registry=http://x', 'X=1 npm test', 'cat a'],
  ])('leaves %j to the guard', (command) => {
    expect(isEveryday(command)).toBe(false);
  });

  it('lets nothing pass in which the guard finds an effect', () => {
    const program = fc.constantFrom(
      'ls',
      'pwd',
      'date',
      'tsc',
      'pytest',
      'git',
      'npm',
      'pnpm',
      'yarn',
      'cargo',
      'go',
      'rm',
      'cat',
      'env',
      'eslint',
      'biome',
    );
    const word = fc.oneof(
      fc.constantFrom(
        'status',
        'diff',
        'log',
        'add',
        'test',
        'run',
        'build',
        'fmt',
        'ls',
        'ci',
        'publish',
        'push',
        'rm',
        '-rf',
        '/',
        '.git',
        '.env',
        '/home/dev/.ssh/id_rsa',
        '--force',
        '-C',
        '..',
        'exec',
        '-c',
      ),
      fc.stringMatching(/^[\w./-]{1,12}$/),
    );
    fc.assert(
      fc.property(program, fc.array(word, { maxLength: 5 }), (name, words) => {
        const command = [name, ...words].join(' ');
        fc.pre(isEveryday(command));
        const { verdict, effects } = judgeCommand(command, context);
        expect({ command, verdict, effects }).toEqual({ command, verdict: 'allow', effects: [] });
      }),
      { numRuns: 2000 },
    );
  });
});
