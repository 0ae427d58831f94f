import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonError } from './json-error.ts';

describe('findJsonError', () => {
  it.each([
    ['{\n  "a": 1,\n}', 3, 1, 'a name in double quotes'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, '"," or "}"'],
    ['[1, 2', 1, 6, '"," or "]"'],
    ['[1,]', 1, 4, 'a value'],
    ['{"a" 1}', 1, 6, '":"'],
    ["{'a': 1}", 1, 2, 'a name in double quotes'],
    ['{"a": tru}', 1, 7, 'a value'],
    ['{"a": "open}', 1, 7, 'a value'],
    ['{} {}', 1, 4, 'nothing more'],
    ['{"a": 01}', 1, 8, '"," or "}"'],
    ['', 1, 1, 'a value'],
    ['// why\n{}', 1, 1, 'a value'],
  ])('finds the error of %j', (text, line, column, expected) => {
    expect(findJsonError(text)).toEqual({ line, column, expected });
  });

  it('finds no error in any JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(4), (json, indent) => {
        expect(findJsonError(JSON.stringify(JSON.parse(json), null, indent))).toBeNull();
      }),
    );
  });

  it('agrees with JSON.parse about JSON with a piece cut out or put in', () => {
    const broken = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '}', '\\', '0', '\n', 'e'),
    );
    fc.assert(
      fc.property(broken, ([json, place, cut, put]) => {
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + put + json.slice(at + cut);
        expect(findJsonError(text) === null).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('goes as deep as the text does', () => {
    expect(findJsonError('['.repeat(200_000))).toMatchObject({ column: 200_001 });
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
