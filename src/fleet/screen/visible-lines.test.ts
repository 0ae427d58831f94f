import { describe, expect, it } from 'vitest';
import { lastLines, withoutMotion } from './visible-lines.ts';

describe('what a screen shows', () => {
  it('takes the last 20 lines that show something', () => {
    const lines = [...Array.from({ length: 30 }, (_, row) => `line ${row}`), '', '   '];
    expect(lastLines(lines)).toHaveLength(20);
    expect(lastLines(lines).at(-1)).toBe('line 29');
    expect(lastLines(['gone', ...lines])).toEqual(lastLines(lines));
  });

  it('does not depend on colours, blanks at line ends or empty lines below', () => {
    expect(lastLines(['\x1b[31mred\x1b[0m text  ', '', ''])).toEqual(['red text']);
  });
});

describe('what does not move by itself', () => {
  const same: [string, string][] = [
    ['✶ Scampering… (3s · ↓ 3 tokens)', '✻ Scampering… (1m 4s · ↓ 3 tokens)'],
    ['⠋ Working (5s • esc to interrupt)', '⠙ Working (2m 05s • esc to interrupt)'],
    ['12:30:59 waiting', '9:05:01 waiting'],
    ['Thinking.', 'Thinking...'],
    ['| loading', '/ loading'],
  ];
  it.each(same)('is the same for %j and %j', (before, after) => {
    expect(withoutMotion(before)).toBe(withoutMotion(after));
  });

  it('tells work from waiting', () => {
    expect(withoutMotion('✶ Scampering… (3s · ↓ 3 tokens)')).not.toBe(
      withoutMotion('✶ Scampering… (9s · ↓ 41 tokens)'),
    );
    expect(withoutMotion('● Read a.ts')).not.toBe(withoutMotion('● Read b.ts'));
  });
});
