import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lines-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function linesOf(content: string | Buffer): string[] {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  const lines: string[] = [];
  expect(readLines(path, (line) => void lines.push(line.toString('utf8')))).toBe(true);
  return lines;
}

describe('readLines', () => {
  it('gives every line of a file, the last one without a line break too', () => {
    expect(linesOf('one\n\nthree\r\nfour')).toEqual(['one', '', 'three', 'four']);
    expect(linesOf('')).toEqual([]);
  });

  it('gives the lines as they are, however long they are', () => {
    const long = fc.nat(200_000).map((size) => 'é'.repeat(size));
    const line = fc.oneof(fc.string({ unit: 'grapheme' }), long).map((text) => text.replace(/[\r\n]/g, ''));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        expect(linesOf(lines.map((text) => `${text}\n`).join(''))).toEqual(lines);
      }),
      { numRuns: 30 },
    );
  });

  it('says so when there is no file', () => {
    expect(readLines(join(folder, 'nowhere'), () => {})).toBe(false);
    expect(readLines(join(folder, 'file', 'below'), () => {})).toBe(false);
  });

  it('refuses what is no file', () => {
    expect(() => readLines(folder, () => {})).toThrow(/cannot be read|not a regular file/);
  });

  it.skipIf(process.platform === 'win32')('does not wait for the writer of a pipe', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(() => readLines(pipe, () => {})).toThrow('not a regular file');
  });
});
