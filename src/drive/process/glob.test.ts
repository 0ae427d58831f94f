import { describe, expect, it } from 'vitest';
import { matchesGlob } from './glob.ts';

describe('matchesGlob', () => {
  it.each([
    ['test', 'test/a.ts'],
    ['test/', 'test/deep/a.ts'],
    ['test/**', 'test/deep/a.ts'],
    ['*.test.ts', 'src/deep/a.test.ts'],
    ['src/*.ts', 'src/a.ts'],
    ['src/**/*.ts', 'src/a.ts'],
    ['src/**/*.ts', 'src/x/y/a.ts'],
    ['./package.json', 'package.json'],
    ['package.json', 'packages/a/package.json'],
    ['/package.json', 'package.json'],
    ['a?c', 'abc'],
    ['we(ird)[x].txt', 'we(ird)[x].txt'],
  ])('%s matches %s', (pattern, path) => {
    expect(matchesGlob(pattern)(path)).toBe(true);
  });

  it.each([
    ['src/*.ts', 'src/deep/a.ts'],
    ['test', 'testing/a.ts'],
    ['*.test.ts', 'a.ts'],
    ['src/**/*.ts', 'lib/a.ts'],
    ['a.c', 'abc'],
    ['src/test', 'lib/src/test'],
  ])('%s does not match %s', (pattern, path) => {
    expect(matchesGlob(pattern)(path)).toBe(false);
  });
});
