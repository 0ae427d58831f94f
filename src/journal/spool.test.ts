import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createSpool } from './spool.ts';

describe('createSpool', () => {
  it('gives back what was added, in order, whatever of it is in memory and whatever is not', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 0, max: 100 }), (added, maxBytes) => {
        const spool = createSpool(maxBytes);
        try {
          for (const part of added) spool.add(part);
          const whole = Buffer.concat(added);
          expect(Buffer.concat([...spool.chunks()].map((chunk) => Buffer.from(chunk)))).toEqual(whole);
          expect(spool.size()).toBe(whole.length);
        } finally {
          spool.close();
        }
      }),
      { numRuns: 50 },
    );
  });

  it('leaves no name in the temp folder by which it could be found', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spool-'));
    vi.stubEnv('TMPDIR', folder);
    const spool = createSpool(4);
    try {
      spool.add(Buffer.from('more than four'));
      expect(readdirSync(folder)).toEqual([]);
      expect(Buffer.concat([...spool.chunks()]).toString()).toBe('more than four');
    } finally {
      spool.close();
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });
});
