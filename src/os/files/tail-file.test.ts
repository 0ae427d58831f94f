import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tailFile } from './tail-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tail-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function tail(text: string, lines: number): Promise<string> {
  const path = join(folder, 'log');
  writeFileSync(path, text);
  const parts: Buffer[] = [];
  await tailFile(path, { follow: false, lines, onData: (bytes) => void parts.push(bytes) });
  return Buffer.concat(parts).toString('utf8');
}

describe('the last lines of a file', () => {
  it('are as many as asked for, with or without a break at the end', async () => {
    const cases: [string, number, string][] = [
      ['', 2, ''],
      ['a\nb\nc\n', 2, 'b\nc\n'],
      ['a\nb\nc', 2, 'b\nc'],
      ['a\n\n\n', 2, '\n\n'],
      ['a\nb\n', 9, 'a\nb\n'],
      ['a\nb\n', 0, ''],
    ];
    for (const [text, lines, wanted] of cases) expect(await tail(text, lines)).toBe(wanted);
  });

  it('are found in a file of many chunks', async () => {
    const all = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`);
    expect(await tail(all.join(''), 30_000)).toBe(all.slice(-30_000).join(''));
  });
});
