import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutTo, fitTo, widthOf, wrapTo } from './width.ts';

describe('widthOf', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['漢字', 4],
    ['e\u0301', 1],
    ['✅', 2],
    ['✓', 1],
    ['\x1b[1mx\x1b[22m', 1],
  ])('%j takes %d columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });
});

const texts = fc
  .array(fc.constantFrom('a', ' ', '漢', '😀', 'e\u0301', '\x1b[31m', '\x1b[39m', 'word ', '-'), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

describe('cutTo and fitTo', () => {
  it('never take more room than there is, and fitTo takes all of it', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 30 }), (text, columns) => {
        expect(widthOf(cutTo(text, columns))).toBeLessThanOrEqual(columns);
        expect(widthOf(fitTo(text, columns))).toBe(columns);
      }),
    );
  });

  it('close the colours of what was cut', () => {
    expect(cutTo('\x1b[31mabcdef\x1b[39m', 4)).toBe('\x1b[31mabc…\x1b[0m');
    expect(cutTo('abcd', 4)).toBe('abcd');
  });
});

describe('wrapTo', () => {
  it('breaks at spaces, and inside a word that has no room', () => {
    expect(wrapTo('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrapTo('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
    expect(wrapTo('a\n\nb', 4)).toEqual(['a', '', 'b']);
  });

  it('loses nothing but spaces, whatever the text', () => {
    const plain = texts.map((text) => text.replaceAll('\x1b[31m', '').replaceAll('\x1b[39m', ''));
    fc.assert(
      fc.property(plain, fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const lines = wrapTo(text, columns);
        expect(lines.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
