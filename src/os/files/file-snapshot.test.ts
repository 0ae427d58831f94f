import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSnapshot, snapshotFiles } from './file-snapshot.ts';

let folder = '';
let snapshot: FileSnapshot;
const at = (...parts: string[]) => join(folder, 'project', ...parts);
const settings = '.ralph/settings.json';
const local = '.ralph/settings.local.json';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  mkdirSync(at('.ralph'), { recursive: true });
  writeFileSync(at(settings), 'mine');
  snapshot = snapshotFiles(at(), [settings, local]);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('snapshotFiles', () => {
  it('touches nothing when nothing was changed', () => {
    expect(snapshot.restore()).toEqual([]);
    expect(readdirSync(at('.ralph'))).toEqual(['settings.json']);
  });

  it('puts back what was changed or removed, takes away what was added, and keeps the other version', () => {
    writeFileSync(at(settings), 'theirs');
    writeFileSync(at(local), 'added');
    expect(snapshot.restore()).toEqual([
      `${settings} (the changed one is settings.json.bad-1)`,
      `${local} (the changed one is settings.local.json.bad-1)`,
    ]);
    expect(readFileSync(at(settings), 'utf8')).toBe('mine');
    expect(readFileSync(at(`${settings}.bad-1`), 'utf8')).toBe('theirs');
    expect(existsSync(at(local))).toBe(false);
    rmSync(at('.ralph'), { recursive: true });
    expect(snapshot.restore()).toEqual([settings]);
    expect(readFileSync(at(settings), 'utf8')).toBe('mine');
  });

  it('puts a program back as one', () => {
    writeFileSync(at('hook'), 'mine', { mode: 0o755 });
    const hook = snapshotFiles(at(), ['hook']);
    writeFileSync(at('hook'), 'theirs');
    hook.restore();
    expect({ text: readFileSync(at('hook'), 'utf8'), mode: lstatSync(at('hook')).mode & 0o777 }).toEqual({
      text: 'mine',
      mode: 0o755,
    });
  });

  it('puts the folder back when a file is in its place', () => {
    rmSync(at('.ralph'), { recursive: true });
    writeFileSync(at('.ralph'), 'a file');
    expect(snapshot.restore()).toEqual([settings]);
    expect(readFileSync(at(settings), 'utf8')).toBe('mine');
    expect(readFileSync(at('.ralph.bad-1'), 'utf8')).toBe('a file');
  });

  it('writes nothing through a link that took the place of the folder, even to the same content', () => {
    const elsewhere = join(folder, 'elsewhere');
    renameSync(at('.ralph'), elsewhere);
    symlinkSync(elsewhere, at('.ralph'));
    expect(snapshot.restore()).toEqual([settings]);
    expect(lstatSync(at('.ralph')).isDirectory()).toBe(true);
    expect(readFileSync(at(settings), 'utf8')).toBe('mine');
    expect(readdirSync(elsewhere)).toEqual(['settings.json']);
  });
});
