import { describe, expect, it } from 'vitest';
import { checkFileKind, checkParts, commandWords } from './check-files.ts';

describe('checkFileKind', () => {
  it.each([
    ...[
      'test/a.js',
      'src/__tests__/a.ts',
      'a.test.tsx',
      'a_test.go',
      'test_a.py',
      'spec/a_spec.rb',
      'ATest.java',
    ],
    'packages/x/e2e/login.ts',
  ])('knows %s as a test', (path) => expect(checkFileKind(path)).toBe('test'));

  it.each([
    ...[
      '.npmrc',
      'sub/.npmrc',
      '.eslintrc.json',
      'eslint.config.mjs',
      'vitest.config.ts',
      'biome.json',
      'Makefile',
    ],
    ...[
      'tests/conftest.py',
      'pyproject.toml',
      'tsconfig.build.json',
      '.github/workflows/ci.yml',
      '.husky/pre-commit',
    ],
  ])('knows %s as configuration of checks', (path) => expect(checkFileKind(path)).toBe('config'));

  it.each(['src/a.ts', 'contest/a.ts', 'latest.json', 'README.md', 'package.json', 'src/protest.ts'])(
    'leaves %s alone',
    (path) => expect(checkFileKind(path)).toBeNull(),
  );
});

describe('checkParts', () => {
  const scripts = {
    test: 'npm run build && vitest run',
    pretest: 'npm run gen',
    build: 'tsc',
    gen: 'node gen.js',
    lint: 'eslint .',
    deploy: 'sh deploy.sh',
  };
  const namesOf = (...commands: string[]) => [...checkParts({}, scripts, commands).keys()].sort();
  const ofTest = ['scripts.build', 'scripts.gen', 'scripts.pretest', 'scripts.test'];

  it.each([
    'npm test',
    'npm t',
    'cd web && pnpm run test -- --bail',
    'yarn --cwd web test',
    'CI=1 bun run test',
  ])('follows %s to all scripts that it runs', (command) => expect(namesOf(command)).toEqual(ofTest));

  it('takes no script that no command names', () => {
    expect(namesOf('npm run lint')).toEqual(['scripts.lint']);
    expect(namesOf('make test', 'constructor')).toEqual([]);
  });

  it('takes the configuration of test runners, and ends with scripts that call each other', () => {
    const parts = checkParts({ jest: { bail: 1 } }, { a: 'npm run b', b: 'npm run a' }, ['npm run a']);
    expect([...parts]).toEqual([
      ['jest', '{"bail":1}'],
      ['scripts.a', 'npm run b'],
      ['scripts.b', 'npm run a'],
    ]);
  });
});

describe('commandWords', () => {
  it('takes a command line apart, values of options included', () => {
    expect(commandWords('A=1 ./check.sh --config="x/y.json"; node tools/a.mjs|tee log')).toEqual([
      ...['A', '1', 'check.sh', '--config', 'x/y.json', 'node', 'tools/a.mjs', 'tee', 'log'],
    ]);
  });
});
