import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
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
  it('replaces the log that was there', () => {
    writeFileSync(at('log'), 'what was there before');
    const log = openStreamLog(at('log'));
    log.write('abc');
    log.write(Buffer.from('def'));
    log.close();
    expect(readFileSync(at('log'), 'utf8')).toBe('abcdef');
  });

  it('keeps the beginning and whole lines of the end of one that grows too long, and says what it left out', () => {
    const log = openStreamLog(at('log'), 4000);
    const lines = Array.from({ length: 1000 }, (_, index) => `{"line":${index}}\n`);
    for (const line of lines) {
      log.write(line);
      expect(statSync(at('log')).size).toBeLessThanOrEqual(4000);
    }
    log.close();
    const text = readFileSync(at('log'), 'utf8');
    const all = lines.join('');
    const [head = '', bytes, tail = ''] = text.split(/\n\.\.\. \[(\d+) bytes left out here\]\n/);
    expect(head).toBe(all.slice(0, 1000));
    expect(tail.length).toBeGreaterThan(900);
    expect(all.endsWith(`\n${tail}`)).toBe(true);
    expect(Number(bytes)).toBe(all.length - head.length - tail.length);
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
