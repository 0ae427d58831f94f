import { describe, expect, it } from 'vitest';
import { summarise } from './summary.ts';

describe('the summary of a tool call', () => {
  it.each([
    [{ description: 'list', command: 'ls -l' }, 'ls -l'],
    [{ cmd: 'ls' }, 'ls'],
    [{ content: 'long text', file_path: '/a/b.ts' }, '/a/b.ts'],
    [{ path: 'src', pattern: 'TODO' }, 'src'],
    [{ anything: 7, else: 'that is text' }, 'that is text'],
    ['raw input', 'raw input'],
    [{ command: 'a\n  b' }, 'a b'],
    [{ command: ['bash'] }, ''],
    [{}, ''],
    [null, ''],
    [7, ''],
  ])('of %j is %j', (input, summary) => {
    expect(summarise(input)).toBe(summary);
  });
});
