import { describe, expect, it } from 'vitest';
import { lastLines, screenHash, stillHash } from './hash.ts';

describe('the fingerprint of a screen', () => {
  it('takes the last 20 lines that show something', () => {
    const lines = [...Array.from({ length: 30 }, (_, row) => `line ${row}`), '', '   '];
    expect(lastLines(lines)).toHaveLength(20);
    expect(lastLines(lines).at(-1)).toBe('line 29');
    expect(screenHash(['gone', ...lines])).toBe(screenHash(lines));
  });

  it('does not depend on colours, blanks at line ends or empty lines below', () => {
    expect(screenHash(['\x1b[31mred\x1b[0m text  ', '', ''])).toBe(screenHash(['red text']));
  });

  it('is an MD5 in hexadecimal', () => {
    expect(screenHash(['abc'])).toBe('900150983cd24fb0d6963f7d28e17f72');
  });

  it('changes with any change of the text', () => {
    expect(screenHash(['Working (3s)'])).not.toBe(screenHash(['Working (4s)']));
  });
});

describe('the fingerprint of what does not move by itself', () => {
  const same: [string, string][] = [
    ['✶ Scampering… (3s · ↓ 3 tokens)', '✻ Scampering… (1m 4s · ↓ 3 tokens)'],
    ['⠋ Working (5s • esc to interrupt)', '⠙ Working (2m 05s • esc to interrupt)'],
    ['12:30:59 waiting', '9:05:01 waiting'],
    ['Thinking.', 'Thinking...'],
    ['| loading', '/ loading'],
  ];
  it.each(same)('is the same for %j and %j', (before, after) => {
    expect(stillHash([before])).toBe(stillHash([after]));
    expect(screenHash([before])).not.toBe(screenHash([after]));
  });

  it('tells work from waiting', () => {
    expect(stillHash(['✶ Scampering… (3s · ↓ 3 tokens)'])).not.toBe(
      stillHash(['✶ Scampering… (9s · ↓ 41 tokens)']),
    );
    expect(stillHash(['● Read a.ts'])).not.toBe(stillHash(['● Read b.ts']));
  });
});
