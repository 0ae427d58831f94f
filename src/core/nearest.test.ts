import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const names = ['maxIterationCost', 'maximumIterations', 'maxTime', 'maxTokens', 'run', 'init', 'scm'];

describe('nearest', () => {
  it.each([
    ['maximumIteration', 'maximumIterations'],
    ['maxIterations', 'maximumIterations'],
    ['maximum_iterations', 'maximumIterations'],
    ['MAX-TIME', 'maxTime'],
    ['rnu', 'run'],
    ['inti', 'init'],
    ['smc', 'scm'],
  ])('takes %s for %s', (word, meant) => {
    expect(nearest(word, names)).toBe(meant);
  });

  it.each(['', 'x', 'colour', 'verify', 'iterations'])('makes no guess for %j', (word) => {
    expect(nearest(word, names)).toBeNull();
  });

  it('prefers the closest candidate, and the first of two that are as close', () => {
    expect(nearest('maxTimes', ['maxTimer', 'maxTime'])).toBe('maxTimer');
    expect(nearest('tast', ['taste', 'test'])).toBe('taste');
  });

  it('finds any word that has one letter too many', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.constantFrom(...'qxz'), (name, place, letter) => {
        const at = place % (name.length + 1);
        expect(nearest(name.slice(0, at) + letter + name.slice(at), names)).toBe(name);
      }),
    );
  });

  it('makes no guess for a word of a million letters', () => {
    expect(nearest('a'.repeat(1_000_000), names)).toBeNull();
  });
});
