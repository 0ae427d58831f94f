import { describe, expect, it } from 'vitest';
import { unlessGiven, withGuard } from './command.ts';

describe('our own options', () => {
  const ours = ['--mode', 'fast'];

  it.each([
    ['no flags', []],
    ['other flags', ['--model', 'x']],
    ['a longer name', ['--mode-of-old', '--modes=2']],
  ])('stay with %s', (_, flags) => {
    expect(unlessGiven(flags, ['-m', '--mode'], ours)).toEqual(ours);
  });

  it.each([
    ['the same option', ['--mode', 'slow']],
    ['its short name', ['-x', '-m', 'slow']],
    ['the option with an equals sign', ['--mode=slow']],
  ])('give way to %s', (_, flags) => {
    expect(unlessGiven(flags, ['-m', '--mode'], ours)).toEqual([]);
  });
});

describe('withGuard', () => {
  it('leaves out words of the user that the guard says itself', () => {
    const guard = { args: ['--settings', '{}'], env: {} };
    expect(withGuard(guard, ['-x', '--debug'])).toEqual(['--settings', '{}', '-x', '--debug']);
    expect(withGuard({ ...guard, flags: ['-x'] }, ['-x', '--debug'])).toEqual(['--settings', '{}', '-x']);
  });
});
