import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderState } from './folder-state.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

describe('folderState', () => {
  it('changes when a file comes, grows, is written again or goes', async () => {
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
      states.add(await folderState(folder));
      expect(states.size).toBe(index + 1);
      expect(await folderState(folder)).toBe([...states].at(-1));
    }
  });

  it('does not look into what is not the work', async () => {
    write('file', '1');
    const before = await folderState(folder);
    for (const name of ['.git', '.ralph', 'dist', 'node_modules', 'sub/node_modules'])
      write(`${name}/file`, '1');
    expect(await folderState(folder)).toBe(before);
  });

  it('looks at no more files than it may', async () => {
    for (const name of ['a', 'b', 'c']) write(name, '');
    const before = await folderState(folder, 3);
    write('d', '1');
    expect(await folderState(folder, 3)).toBe(before);
    write('a', '1');
    expect(await folderState(folder, 3)).not.toBe(before);
  });

  it('is null where there is no folder', async () => {
    write('file', '1');
    expect(await folderState(join(folder, 'gone'))).toBeNull();
    expect(await folderState(join(folder, 'file'))).toBeNull();
  });
});
