import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { RalphError } from '../../core/error.ts';
import { runCommand } from '../process/process.ts';
import { writeFailure } from './file-error.ts';
import { ensureDir, isRealDir, readJson, readText, reclaimDir, setAside, writeAtomic } from './files.ts';
import { sweepTemporaryFiles, temporaryName } from './temp.ts';

let folder = '';
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The code of the RalphError that was thrown. */
function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof RalphError) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}

describe('temporaryName', () => {
  it('is in our folder beside or above the file, where git ignores it, unless that is a link', () => {
    mkdirSync(at('project/.ralph'), { recursive: true });
    mkdirSync(at('project/ralph'));
    const places = ['project/.ralph-active', 'project/ralph/tasks.json', 'project/.ralph/lock', 'other/file'];
    const folders = places.map((path) => dirname(temporaryName(at(path))));
    expect(folders).toEqual([...Array(3).fill(at('project/.ralph')), at('other')]);
    mkdirSync(at('linked'));
    symlinkSync(at('project/.ralph'), at('linked/.ralph'));
    expect(dirname(temporaryName(at('linked/file')))).toBe(at('linked'));
  });
});

describe('sweepTemporaryFiles', () => {
  it('removes those of dead processes and nothing else', () => {
    const dead = spawnSync('true').pid;
    const names = [`.state.${process.pid}.ab12.tmp`, '.state.tmp', 'notes.1.tmp'];
    for (const name of [...names, `.state.${dead}.ab12.tmp`]) writeFileSync(at(name), '');
    sweepTemporaryFiles(folder);
    sweepTemporaryFiles(at('missing'));
    expect(readdirSync(folder).sort()).toEqual(names.sort());
  });
});

describe('writeAtomic', () => {
  it('replaces the content, for the owner only, and leaves no other file', () => {
    writeAtomic(at('state'), 'one');
    writeAtomic(at('state'), Buffer.from('two'));
    expect(readFileSync(at('state'), 'utf8')).toBe('two');
    expect(statSync(at('state')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['state']);
  });

  it('sets the mode whatever the umask', () => {
    const before = process.umask(0o077);
    try {
      writeAtomic(at('settings'), '{}', { mode: 0o644, fsync: false });
    } finally {
      process.umask(before);
    }
    expect(statSync(at('settings')).mode & 0o777).toBe(0o644);
  });

  it('does not write through a symlink', () => {
    writeFileSync(at('real'), 'mine');
    symlinkSync(at('real'), at('link'));
    symlinkSync(at('gone'), at('dangling'));
    expect(codeOf(() => writeAtomic(at('link'), 'theirs'))).toBe('symlink-refused');
    expect(codeOf(() => writeAtomic(at('dangling'), 'theirs'))).toBe('symlink-refused');
    expect(readFileSync(at('real'), 'utf8')).toBe('mine');
    expect(readdirSync(folder).sort()).toEqual(['dangling', 'link', 'real']);
  });

  it('does not go through a linked folder below the root, nor out of the root', () => {
    mkdirSync(at('root/inside'), { recursive: true });
    mkdirSync(at('outside'));
    symlinkSync(at('outside'), at('root/link'));
    const root = at('root');
    writeAtomic(at('root/inside/file'), 'ok', { root });
    writeAtomic(at('root/file'), 'ok', { root });
    expect(codeOf(() => writeAtomic(at('root/link/file'), 'no', { root }))).toBe('symlink-refused');
    expect(codeOf(() => writeAtomic(at('root/../outside/file'), 'no', { root }))).toBe('outside-root');
    expect(readdirSync(at('outside'))).toEqual([]);
  });

  it('says what is wrong when the folder is missing or the disk is full', () => {
    expect(codeOf(() => writeAtomic(at('no/such/file'), ''))).toBe('file-unwritable');
    const full = writeFailure('/x/state', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }));
    expect(full).toMatchObject({ code: 'disk-full', message: 'There is no space left to write /x/state.' });
  });

  it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])('calls %s a failure of the machine', (code) => {
    const failure = writeFailure('/x/state', Object.assign(new Error(code), { code }));
    expect(failure).toMatchObject({ code: 'machine-limit', exitCode: 70 });
    expect(String(failure)).toContain(code);
  });

  it('says what is in the way: a file above it, a folder or a link in its place', () => {
    writeFileSync(at('file'), '');
    mkdirSync(at('folder'));
    expect(() => writeAtomic(at('file/below'), '')).toThrow('a part of its path is no folder.');
    expect(codeOf(() => writeAtomic(at('file/below'), ''))).toBe('file-unwritable');
    expect(() => writeAtomic(at('folder'), '')).toThrow('there is a folder in its place.');
    const loop = writeFailure('/x/log', Object.assign(new Error('ELOOP'), { code: 'ELOOP' }));
    expect(loop).toMatchObject({ code: 'symlink-refused', remedy: "remove the link: rm '/x/log'" });
  });

  it('leaves the old content and no other file when the target cannot be replaced', () => {
    mkdirSync(at('taken'));
    expect(codeOf(() => writeAtomic(at('taken'), 'x'))).toBe('file-unwritable');
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it('never leaves a torn file, at whatever moment the writer is killed', async () => {
    const entry = new URL('files.ts', import.meta.url).pathname;
    buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile: at('files.cjs') });
    const size = 512 * 1024;
    const loop = `for (let n = 0; ; n++) require('./files.cjs').writeAtomic('target', String(n % 10).repeat(${size}))`;
    for (let round = 0; round < 8; round++) {
      rmSync(at('target'), { force: true });
      const writer = spawn(process.execPath, ['-e', loop], { cwd: folder, stdio: 'ignore' });
      const gone = new Promise((resolve) => writer.once('exit', resolve));
      await waitUntil(() => existsSync(at('target')));
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      writer.kill('SIGKILL');
      await gone;
      const content = readFileSync(at('target'), 'utf8');
      expect(content.length).toBe(size);
      expect(new Set(content).size).toBe(1);
    }
  });
});

describe('readText', () => {
  it('reads a file, and null where there is none', () => {
    writeFileSync(at('prompt'), '\uFEFFdo it\n');
    expect(readText(at('prompt'))).toBe('do it\n');
    expect(readText(at('gone'))).toBeNull();
    expect(readText(at('prompt', 'below'))).toBeNull();
  });

  it('refuses what is too large and what is no file, without waiting for a pipe', async () => {
    writeFileSync(at('large'), 'x'.repeat(11));
    expect(codeOf(() => readText(at('large'), { maxBytes: 10 }))).toBe('file-too-large');
    expect(codeOf(() => readText(folder))).toBe('file-unreadable');
    await runCommand(['mkfifo', at('pipe')], { cwd: folder });
    expect(codeOf(() => readText(at('pipe')))).toBe('file-unreadable');
  });
});

describe('readJson', () => {
  it('gives the value, or what is wrong as a value', () => {
    writeFileSync(at('good'), '\uFEFF{"a":[1]}');
    writeFileSync(at('torn'), '{"a":[1');
    writeFileSync(at('empty'), '');
    expect(readJson(at('good'))).toEqual({ ok: true, value: { a: [1] } });
    expect(readJson(at('torn'))).toMatchObject({ ok: false, reason: 'torn' });
    expect(readJson(at('empty'))).toMatchObject({ ok: false, reason: 'torn' });
    expect(readJson(at('gone'))).toMatchObject({ ok: false, reason: 'missing' });
    expect(readJson(folder)).toMatchObject({ ok: false, reason: 'unreadable' });
  });
});

describe('setAside', () => {
  it('keeps every file that it moves away', () => {
    writeFileSync(at('state'), 'one');
    expect(setAside(at('state'))).toBe(at('state.bad-1'));
    writeFileSync(at('state'), 'two');
    expect(setAside(at('state'))).toBe(at('state.bad-2'));
    expect(readFileSync(at('state.bad-1'), 'utf8')).toBe('one');
    expect(setAside(at('state'))).toBeNull();
  });
});

describe('ensureDir', () => {
  it('makes the folders for the owner only and leaves those that are there', () => {
    mkdirSync(at('there'));
    chmodSync(at('there'), 0o755);
    ensureDir(at('there/a/b'));
    ensureDir(at('there/a/b'));
    expect(statSync(at('there')).mode & 0o777).toBe(0o755);
    expect(statSync(at('there/a/b')).mode & 0o777).toBe(0o700);
    writeFileSync(at('file'), '');
    expect(codeOf(() => ensureDir(at('file')))).toBe('file-unwritable');
    // Where nothing can be made, Node's own way never comes to an end.
    expect(codeOf(() => ensureDir('/proc/nope/a/b'))).toBe('file-unwritable');
  });
});

describe('reclaimDir', () => {
  it('makes real folders below the root and sets aside what is in the way', () => {
    mkdirSync(at('elsewhere/b'), { recursive: true });
    symlinkSync(at('elsewhere'), at('a'));
    expect(isRealDir(at('a/b'), folder)).toBe(false);
    reclaimDir(at('a/b'), folder);
    expect(isRealDir(at('a/b'), folder)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['a', 'a.bad-1', 'elsewhere']);
    rmSync(at('a/b'), { recursive: true });
    writeFileSync(at('a/b'), 'kept');
    reclaimDir(at('a/b/c'), folder);
    expect(isRealDir(at('a/b/c'), folder)).toBe(true);
    expect(readFileSync(at('a/b.bad-1'), 'utf8')).toBe('kept');
  });

  it('leaves a root alone that is reached through a link, and what is outside of it', () => {
    mkdirSync(at('real'));
    symlinkSync(at('real'), at('root'));
    reclaimDir(at('root/a'), at('root'));
    expect(readdirSync(at('real'))).toEqual(['a']);
    expect(codeOf(() => reclaimDir(at('other'), at('root')))).toBe('outside-root');
  });
});
