import * as v8 from 'node:v8';
import * as vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { createLineSplitter } from './lines.ts';

function split(chunks: readonly Buffer[], maxLineBytes?: number) {
  const lines: string[] = [];
  const oversize: number[] = [];
  const splitter = createLineSplitter((line) => lines.push(line.toString('latin1')), {
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
    onOversize: (bytes) => oversize.push(bytes),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, oversize };
}

/** Cuts the bytes at arbitrary places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

describe('createLineSplitter', () => {
  it('gives the same lines wherever the stream is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (content, places) => {
        const bytes = Buffer.from(content, 'utf8');
        const expected = bytes.toString('latin1').split('\n');
        if (expected.at(-1) === '') expected.pop();
        const lines = expected.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
        expect(split(cut(bytes, places)).lines).toEqual(lines);
      }),
    );
  });

  it('drops exactly the lines above the limit and tells the size of each, wherever the stream is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (content, places) => {
        const all = content.split('\n');
        if (all.at(-1) === '') all.pop();
        const { lines, oversize } = split(cut(Buffer.from(content), places), 3);
        expect(lines).toEqual(all.filter((line) => line.length <= 3));
        expect(oversize).toEqual(all.filter((line) => line.length > 3).map((line) => line.length));
      }),
    );
  });

  it('copies nothing of a line that lies inside one chunk', () => {
    const chunk = Buffer.from('one\ntwo\n');
    const lines: Buffer[] = [];
    createLineSplitter((line) => lines.push(line)).push(chunk);
    expect(lines.map((line) => line.buffer)).toEqual([chunk.buffer, chunk.buffer]);
    chunk.write('ONE');
    expect(lines.map(String)).toEqual(['ONE', 'two']);
  });

  it('joins a line of 50 MB once', () => {
    const concat = vi.spyOn(Buffer, 'concat');
    const sizes: number[] = [];
    const splitter = createLineSplitter((line) => sizes.push(line.length));
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let i = 0; i < 800; i++) splitter.push(chunk);
    splitter.push(Buffer.from('\n'));
    expect(sizes).toEqual([800 * 64 * 1024]);
    expect(concat).toHaveBeenCalledTimes(1);
    concat.mockRestore();
  });

  it('keeps nothing of a line above the limit', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = vm.runInNewContext('gc');
    const splitter = createLineSplitter(() => expect.unreachable(), { maxLineBytes: 1024 * 1024 });
    const held = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    for (let i = 0; i < 1000; i++) splitter.push(Buffer.alloc(64 * 1024, 'x'));
    // The memory is given back a moment after the collection, by a thread.
    await waitUntil(() => held() - before < 4 * 1024 * 1024);
    splitter.push(Buffer.from('the splitter is still in use'));
    expect(held() - before).toBeLessThan(4 * 1024 * 1024);
  });
});
