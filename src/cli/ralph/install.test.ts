import { describe, expect, it } from 'vitest';
import { describeChange, listChanges } from './install.ts';

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

it('lists files of one folder on one line', () => {
  const change = (path: string, before: string | null) => ({ path, before, after: 'x' });
  const changes = [change('/a/s.json', '{}'), change('/a/c/one.md', null), change('/a/c/two.md', null)];
  expect(listChanges(changes)).toEqual(['~ /a/s.json', '+ /a/c/: one.md, two.md']);
});
