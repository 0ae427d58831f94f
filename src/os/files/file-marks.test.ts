import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedBetween, markFolder } from './file-marks.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function textOf(marks: ReturnType<typeof markFolder>): string {
  return JSON.stringify([...(marks ?? [])]);
}

describe('markFolder', () => {
  it('changes when a file comes, grows, is written again or goes', () => {
    const states = new Set<string | null>();
    const changes = [
      () => {},
      () => write('a/b', '1'),
      () => write('a/b', '12'),
      () => utimesSync(join(folder, 'a/b'), 1, 1),
      () => write('c', ''),
      () => symlinkSync('a', join(folder, 'link')),
      () => rmSync(join(folder, 'c')),
    ];
    for (const [index, change] of changes.entries()) {
      change();
      states.add(textOf(markFolder(folder)));
      expect(states.size).toBe(index + 1);
      expect(textOf(markFolder(folder))).toBe([...states].at(-1));
    }
  });

  it('does not look into what is not the work', () => {
    write('file', '1');
    const before = textOf(markFolder(folder));
    for (const name of ['.git', '.ralph', 'dist', 'node_modules', 'sub/node_modules'])
      write(`${name}/file`, '1');
    expect(textOf(markFolder(folder))).toBe(before);
  });

  it('looks at no more files than it may', () => {
    for (const name of ['a', 'b', 'c']) write(name, '');
    const before = textOf(markFolder(folder, 3));
    write('d', '1');
    expect(textOf(markFolder(folder, 3))).toBe(before);
    write('a', '1');
    expect(textOf(markFolder(folder, 3))).not.toBe(before);
  });

  it('is null where there is no folder', () => {
    write('file', '1');
    expect(markFolder(join(folder, 'gone'))).toBeNull();
    expect(markFolder(join(folder, 'file'))).toBeNull();
  });
});

describe('changedBetween', () => {
  it('names what came, went and changed', () => {
    const before = new Map([
      ['same', '1'],
      ['changed', '1'],
      ['gone', '1'],
    ]);
    const after = new Map([
      ['same', '1'],
      ['changed', '2'],
      ['new', '1'],
    ]);
    expect(changedBetween(before, after).length).toBe(3);
    expect(changedBetween(after, after)).toEqual([]);
  });
});
