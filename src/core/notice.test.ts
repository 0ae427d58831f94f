import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noticeKindOf, noticeOf, plainLine } from './notice.ts';
import { type Outcome, outcomes } from './outcome.ts';

describe('noticeKindOf', () => {
  it('has a kind for every outcome but those that the person caused', () => {
    const silent = (Object.keys(outcomes) as Outcome[]).filter((outcome) => noticeKindOf(outcome) === null);
    expect(silent.sort()).toEqual(['CANCELLED', 'INTERRUPTED']);
  });
});

describe('noticeOf', () => {
  it('says who, what and why on one line each', () => {
    const facts = { run: 'r1', at: '2026-01-01T00:00:00.000Z', kind: 'decide', project: 'shop' } as const;
    const { title, body } = noticeOf({ ...facts, because: 'Tabs\nor spaces?' });
    expect([title, body]).toEqual(['ralph: shop asks you to decide', 'Tabs or spaces?']);
  });
});

describe('plainLine', () => {
  it('leaves nothing that a terminal acts on, whatever the text', () => {
    const hostile = fc.constantFrom(
      '\x1b]0;x\x07',
      '\x9b2J',
      '\u202e',
      '\u2066',
      '\r\n',
      '\0',
      '😀',
      '\ud83d',
    );
    const anything = fc
      .array(fc.oneof(hostile, fc.string({ unit: 'binary' })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 80 }), (text, max) => {
        const line = plainLine(text, max);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        expect(line.length).toBeLessThanOrEqual(max);
      }),
    );
  });
});
