import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findUp, realPath } from './real-path.ts';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-path-')));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  symlinkSync(join(folder, 'a'), join(folder, 'link'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('realPath', () => {
  it('follows links in the part of a path that is there', () => {
    expect(realPath(join(folder, 'link/b'))).toBe(join(folder, 'a/b'));
    expect(realPath(join(folder, 'link/new/file.txt'))).toBe(join(folder, 'a/new/file.txt'));
  });

  it('follows a link to what is not there yet', () => {
    symlinkSync('a/new.txt', join(folder, 'first'));
    symlinkSync('first', join(folder, 'second'));
    symlinkSync('a/none', join(folder, 'folder'));
    expect(realPath(join(folder, 'second'))).toBe(join(folder, 'a/new.txt'));
    expect(realPath(join(folder, 'folder/deep/file'))).toBe(join(folder, 'a/none/deep/file'));
  });

  it('leaves links that go round in a circle as they are', () => {
    symlinkSync('two', join(folder, 'one'));
    symlinkSync('one', join(folder, 'two'));
    expect(realPath(join(folder, 'one/file'))).toBe(join(folder, 'one/file'));
  });

  it('leaves a path without links as it is', () => {
    expect(realPath(join(folder, 'a/none'))).toBe(join(folder, 'a/none'));
  });
});

describe('findUp', () => {
  it('finds the nearest folder that has the name', () => {
    expect(findUp(join(folder, 'a/b'), ['link'])).toBe(folder);
    expect(findUp(join(folder, 'a'), ['no-such-name-anywhere'])).toBeNull();
  });
});
