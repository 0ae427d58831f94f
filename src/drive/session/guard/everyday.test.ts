import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { checkCommand } from 'ralphkit-guard';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir, removeTempDir } from '../../../os/files/temp.ts';
import { isEveryday } from './everyday.ts';

/** A project whose rules deny everything that a rule can speak of: only what has no effect at all is allowed. */
function strictProject(): string {
  const project = makeTempDir('everyday-');
  mkdirSync(join(project, '.ralph'));
  const deny = ['delete', 'write', 'read'].map((effect) => ({ effect }));
  writeFileSync(join(project, '.ralph/guard.json'), JSON.stringify({ deny }));
  return project;
}

describe('isEveryday', () => {
  it.each([
    ...['ls -la src', 'pwd', 'git status', 'git add src/a.ts', 'npm test', 'npm run build', 'cargo test'],
    ...['npm run build && npm test', 'npm test 2>&1 | tail -n 20', 'git add src && git status | head -5'],
  ])('knows %s', (command) => {
    expect(isEveryday(command)).toBe(true);
  });

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
    ...['npm test && rm -rf dist', 'npm test | tail -n 5 x', 'npm test | tee x', 'git log | sh', 'ls && '],
    ...['npm test || rm x', 'npm test & id', 'ls |head', 'npm test 2>&1 > x', 'ls | head -5 | sh'],
  ])('leaves %j to the guard', (command) => {
    expect(isEveryday(command)).toBe(false);
  });

  it('lets nothing pass in which the guard finds an effect', async () => {
    const project = strictProject();
    onTestFinished(() => removeTempDir(project));
    const place = { cwd: project, env: { HOME: '/home/dev' } };
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
        '--output',
        '-C',
        '..',
        'exec',
        '-c',
      ),
      fc.stringMatching(/^[\w./-]{1,12}$/),
    );
    const between = fc.constantFrom(' && ', ' | ', '; ', ' | head -5', ' 2>&1 | tail -n 3 && ', '', ' 2>&1');
    const call = fc
      .tuple(program, fc.array(word, { maxLength: 4 }), between)
      .map(([name, words, end]) => `${[name, ...words].join(' ')}${end}`);
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 3 }), async (calls) => {
        const command = calls.join('');
        fc.pre(isEveryday(command));
        const { verdict } = await checkCommand(command, place);
        expect({ command, verdict }).toEqual({ command, verdict: 'allow' });
      }),
      { numRuns: 2000 },
    );
  });
});
