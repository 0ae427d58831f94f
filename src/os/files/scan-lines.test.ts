import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileSize, scanLinesBack, utf8Of } from './scan-lines.ts';
import { makeTempDir, removeTempDir } from './temp.ts';

let room: string;
let path: string;

beforeAll(() => {
  room = makeTempDir('ralph-scan-');
  path = join(room, 'lines');
});

afterAll(() => removeTempDir(room));

function scan(content: string, from = 0, wants = (_ends: string) => true) {
  writeFileSync(path, content);
  const lines: string[] = [];
  const result = scanLinesBack(path, from, {
    wants,
    visit: (line) => lines.push(utf8Of(line)) > 0,
  });
  return { lines, result };
}

describe('a scan from the end of a file', () => {
  it('visits every line after the offset, from the last to the first, whatever their lengths', () => {
    const length = fc.oneof(fc.nat(40), fc.constantFrom(1024 * 1024 - 1, 1024 * 1024, 130_000, 2_300_000));
    fc.assert(
      fc.property(fc.array(length, { maxLength: 6 }), fc.nat(2), (lengths, skipped) => {
        const lines = lengths.map((size, index) => String(index).padEnd(size + 1, 'ü'));
        const from = lines.slice(0, skipped).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
        const { lines: seen, result } = scan(lines.map((line) => `${line}\n`).join(''), from);
        expect(seen).toEqual(lines.slice(skipped).reverse());
        expect(result?.wholeEnd).toBe(fileSize(path));
      }),
      { numRuns: 40 },
    );
  });

  it('keeps a last line without a newline for later, unless it is whole', () => {
    expect(scan('{"a":1}\n{"b":')).toEqual({ lines: ['{"a":1}'], result: { size: 13, wholeEnd: 8 } });
    expect(scan('{"a":1}\n{"b":2}')).toEqual({
      lines: ['{"b":2}', '{"a":1}'],
      result: { size: 15, wholeEnd: 15 },
    });
  });

  it('reads a long line only if its ends are of interest', () => {
    const long = `begin${'x'.repeat(3_000_000)}end`;
    const ends: string[] = [];
    const wants = (text: string) => {
      ends.push(text);
      return false;
    };
    expect(scan(`short\n${long}\n`, 0, wants).lines).toEqual(['short']);
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatch(/^begin.*end$/);
    expect(ends[0]?.length).toBeLessThan(10_000);
  });

  it('stops when it is told to', () => {
    writeFileSync(path, 'a\nb\nc\n');
    const seen: string[] = [];
    scanLinesBack(path, 0, { wants: () => true, visit: (line) => seen.push(line) < 2 });
    expect(seen).toEqual(['c', 'b']);
  });

  it('has nothing to say about a file that became shorter, or that is none', () => {
    expect(scan('abc\n', 100).result).toBeNull();
    mkdirSync(join(room, 'folder'));
    expect(scanLinesBack(join(room, 'folder'), 0, { wants: () => true, visit: () => true })).toBeNull();
    expect(fileSize(join(room, 'missing'))).toBeNull();
  });
});
