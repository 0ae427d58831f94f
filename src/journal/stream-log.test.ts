import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RalphError } from '../core/error.ts';
import { runCommand } from '../os/process/process.ts';
import { openStreamLog } from './stream-log.ts';

let folder = '';
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('openStreamLog', () => {
  it('replaces the log that was there, and cuts one that grows too long', () => {
    writeFileSync(at('log'), 'what was there before');
    const log = openStreamLog(at('log'), 4);
    log.write('abc');
    log.write(Buffer.from('def'));
    log.write('never');
    log.close();
    expect(readFileSync(at('log'), 'utf8')).toBe('abcdef\n... [log cut here]\n');
  });

  it('says what is in its place: a folder, a link, or a file above it', () => {
    mkdirSync(at('folder'));
    symlinkSync(at('target'), at('link'));
    writeFileSync(at('file'), '');
    expect(() => openStreamLog(at('folder'))).toThrow('there is a folder in its place.');
    expect(() => openStreamLog(at('link'))).toThrow('is a symlink; nothing is written through one.');
    expect(() => openStreamLog(join(at('file'), 'log'))).toThrow(RalphError);
    expect(existsSync(at('target'))).toBe(false);
  });

  it.skipIf(process.platform === 'win32')('does not wait for the reader of a pipe', async () => {
    await runCommand(['mkfifo', at('pipe')], { cwd: folder });
    expect(() => openStreamLog(at('pipe'))).toThrow(RalphError);
  });
});
