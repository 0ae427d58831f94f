import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnchors, tripleAt } from './anchors.ts';

const starts = ['sk-', 'eyJ', '://', 'BEGIN '].map((text) => Buffer.from(text));
const anchors = createAnchors(starts.map((start) => tripleAt(start, 0)));

function found(bytes: Buffer): number[] {
  const positions: number[] = [];
  for (let at = anchors.search(bytes, 0); at >= 0; at = anchors.search(bytes, at + 1)) positions.push(at);
  return positions;
}

function expected(bytes: Buffer): number[] {
  return [...bytes.keys()].filter((at) =>
    starts.some((start) => bytes.subarray(at, at + 3).equals(start.subarray(0, 3))),
  );
}

const pieces = fc.array(fc.constantFrom('sk-', 'eyJ', '://', 'BEG', 's', 'k', '-', ':', '/', 'xy'), {
  maxLength: 30,
});

describe('createAnchors', () => {
  it('finds every beginning, wherever the buffer lies in memory', () => {
    fc.assert(
      fc.property(pieces, fc.nat({ max: 7 }), (text, offset) => {
        const bytes = Buffer.from(' '.repeat(offset) + text.join('')).subarray(offset);
        expect(found(bytes)).toEqual(expected(bytes));
      }),
      { numRuns: 5000 },
    );
  });

  it('passes over ordinary text', () => {
    expect(found(Buffer.from('The quick brown fox jumps over the lazy dog. '.repeat(50)))).toEqual([]);
  });

  it.each([
    ['text', 0],
    ['', 0],
    ['risk', 2],
    ['class', 1],
    [':', 1],
    ['http:/', 2],
  ])('says how many bytes at the end of %j may begin an anchor', (text, count) => {
    expect(anchors.begunAtEnd(Buffer.from(text))).toBe(count);
  });
});
