import { describe, expect, it } from 'vitest';
import { describeChange } from './install.ts';

describe('a change that is shown', () => {
  it.each([
    [null, 'a\nb\n', '+ f\n  +a\n  +b\n  +'],
    ['a\n', null, '- f (removed)'],
    ['a\nb\nc\n', 'a\nx\nc\n', '~ f\n  -b\n  +x'],
    ['a\nc\n', 'a\nb\nc\n', '~ f\n  +b'],
    ['a\nb\nc\n', 'a\nc\n', '~ f\n  -b'],
    ['a\n', 'a\nb\n', '~ f\n  +b'],
    ['{}', '{\n  "a": 1\n}\n', '~ f\n  -{}\n  +{\n  +  "a": 1\n  +}\n  +'],
  ])('from %j to %j names the lines that differ', (before, after, shown) => {
    expect(describeChange({ path: 'f', before, after })).toBe(shown);
  });
});
