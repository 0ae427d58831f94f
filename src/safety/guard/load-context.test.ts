import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadGuardContext } from './load-context.ts';

let top = '';
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'guard-')));
  for (const folder of ['home', 'project/.git', 'project/src', 'other']) {
    mkdirSync(join(top, folder), { recursive: true });
  }
});
afterEach(() => rmSync(top, { recursive: true }));

function realPathIn(project: string): (path: string) => string {
  const { realPath } = loadGuardContext(project, { HOME: join(top, 'home') }, true);
  return (path) => realPath?.(path) ?? 'unknown';
}

describe('where a path leads', () => {
  it('is followed through links to folders, to files and to other links', () => {
    const project = join(top, 'project');
    writeFileSync(join(top, 'other/file'), '');
    symlinkSync(join(top, 'other'), join(project, 'folder'));
    symlinkSync('folder/file', join(project, 'file'));
    symlinkSync('../folder', join(project, 'src/again'));
    const real = realPathIn(project);
    expect(real(join(project, 'folder/new/deep.txt'))).toBe(join(top, 'other/new/deep.txt'));
    expect(real(join(project, 'folder'))).toBe(join(top, 'other'));
    expect(real(join(project, 'file'))).toBe(join(top, 'other/file'));
    expect(real(join(project, 'src/again/file'))).toBe(join(top, 'other/file'));
    expect(real(join(project, 'src/a.ts'))).toBe(join(project, 'src/a.ts'));
    expect(real('/')).toBe('/');
  });

  it('is told from the project as its user names it', () => {
    const named = join(top, 'named');
    symlinkSync(join(top, 'project'), named);
    expect(realPathIn(named)(join(named, 'src/a.ts'))).toBe(join(named, 'src/a.ts'));
  });

  it('is looked up again for the next command', async () => {
    const project = join(top, 'project');
    const real = realPathIn(project);
    expect(real(join(project, 'out/a'))).toBe(join(project, 'out/a'));
    symlinkSync(join(top, 'other'), join(project, 'out'));
    await Promise.resolve();
    expect(real(join(project, 'out/a'))).toBe(join(top, 'other/a'));
  });

  it('ends where links go round in a circle', () => {
    const project = join(top, 'project');
    symlinkSync('b', join(project, 'a'));
    symlinkSync('a', join(project, 'b'));
    expect(realPathIn(project)(join(project, 'a/x'))).toBe(join(project, 'a/x'));
  });
});
