import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureString } from './json-string.ts';

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\n', '"', '\\', 'a', '\t', '\u0001', 'ü', '→', '🚀'),
    fc.string({ unit: 'binary' }),
  ),
  maxLength: 300,
});

describe('measureString', () => {
  it('finds the end, the size and the beginning of any text', () => {
    fc.assert(
      fc.property(text, fc.nat(40), (whole, headBytes) => {
        // A lone half of a pair is written as an escape, as JSON.stringify does.
        const bytes = Buffer.from(`[${JSON.stringify(whole)},"more"]`);
        const measured = measureString(bytes, 2, headBytes);
        const lines = whole === '' ? 0 : whole.split('\n').length - (whole.endsWith('\n') ? 1 : 0);
        expect(measured).toMatchObject({ chars: whole.length, lines });
        expect(bytes.toString('utf8', measured?.end, (measured?.end ?? 0) + 3)).toBe('","');
        expect(whole.startsWith(measured?.head ?? '?')).toBe(true);
        const isWhole = Buffer.byteLength(JSON.stringify(whole)) - 2 <= headBytes;
        if (isWhole) expect(measured?.head).toBe(whole);
      }),
    );
  });

  it('has no answer for a string that is cut off', () => {
    expect(measureString(Buffer.from('"abc\\'), 1, 10)).toBeNull();
    expect(measureString(Buffer.from('"abc\\"'), 1, 10)).toBeNull();
  });
});
