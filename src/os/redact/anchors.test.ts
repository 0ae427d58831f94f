import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnchors } from './anchors.ts';

const starts = ['sk-', 'eyJ', '://', 'BEGIN '].map((text) => Buffer.from(text));
const anchors = createAnchors(starts);

function found(bytes: Buffer): number[] {
  const search = anchors.search(bytes);
  const positions: number[] = [];
  for (let at = search(0); at >= 0; at = search(at + 1)) positions.push(at);
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
