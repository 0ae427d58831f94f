import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExcerpt } from './excerpt.ts';

function excerptOf(text: string, max: number, partChars = 1000) {
  const excerpt = createExcerpt(max);
  for (let at = 0; at < text.length; at += partChars) excerpt.push(text.slice(at, at + partChars));
  return excerpt.end();
}

const lines = (count: number, word = 'ok') =>
  Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('');

describe('the excerpt of an output', () => {
  it('is all of it where it fits', () => {
    expect(excerptOf('abc', 3)).toEqual({ text: 'abc', truncated: false });
  });

  it('has its first fifth and, from its end, the rest, and counts what is left out', () => {
    expect(excerptOf('1234567890abcdefghij', 10)).toEqual({
      text: '12\n... [10 characters truncated]\ncdefghij',
      truncated: true,
    });
  });

  it('keeps a line between that looks like a failure, in its order', () => {
    const output = `${lines(500)}not ok 7 - adds\n${lines(500)}  ✖ subtracts\n${lines(500)}`;
    const { text } = excerptOf(output, 1000);
    expect(text).toMatch(/^ok 0\n[\s\S]*truncated\]\nnot ok 7 - adds\n {2}✖ subtracts\n[\s\S]*ok 499\n$/);
    // What these lines do not need is spent on the end.
    expect(text.replace(/\n\.\.\. .*\n/, '').length).toBe(1000);
  });

  it('counts what it did not keep of an endless output', () => {
    const text = 'x'.repeat(3_000_000);
    const [, left] = /\[(\d+) characters truncated\]/.exec(excerptOf(text, 100, 65_536).text) ?? [];
    expect(Number(left)).toBe(text.length - 100);
  });

  it('never cuts a character in two', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.integer({ min: 1, max: 20 }),
        (text, max) => {
          expect(excerptOf(text.repeat(9), max).text).not.toMatch(/\p{Surrogate}/u);
        },
      ),
    );
  });
});
