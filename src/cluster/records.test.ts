import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../os/clock.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { answerRequests, fetchRecords } from './records.ts';

let folder: string;
let over: AbortController;
let answering: Promise<void>;
const boxes = new Map<string, string[]>();
const store = {
  async post(box: string, text: string) {
    boxes.set(box, [...(boxes.get(box) ?? []), text]);
  },
  async take(box: string) {
    return boxes.get(box)?.shift() ?? null;
  },
};

beforeEach(() => {
  folder = makeTempDir('records-');
  mkdirSync(join(folder, 'loops/a'), { recursive: true });
  over = new AbortController();
  answering = answerRequests(store, { host: 'one', folder, clock: systemClock, over: over.signal });
});

afterEach(async () => {
  over.abort();
  await answering;
  removeTempDir(folder);
  boxes.clear();
});

describe('the record of a loop on a machine', () => {
  it('comes whole and in order, whatever bytes it has', async () => {
    const big = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 7) % 256));
    const files = { '001.log': big, '002.try-1.log': 'cut', '002.log': 'again', '010.log': '' };
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, 'loops/a', name), content);
    const got = new Map<string, Buffer>();
    const silent = await fetchRecords(store, 'a', ['one'], (title, bytes) => {
      got.set(title, Buffer.concat([got.get(title) ?? Buffer.alloc(0), bytes]));
    });
    expect(silent).toEqual([]);
    expect([...got.keys()]).toEqual([
      'iteration 1 on one',
      'iteration 2, try 1 on one',
      'iteration 2 on one',
      'iteration 10 on one',
    ]);
    expect(got.get('iteration 1 on one')?.equals(big)).toBe(true);
    expect(got.get('iteration 2 on one')?.toString()).toBe('again');
  });

  it('is all that can be asked for', async () => {
    writeFileSync(join(folder, 'secret.log'), 'secret');
    const requests = [
      { name: '../..', reply: 'reply:1' },
      { name: 'a', reply: 'reply:2', file: '../../secret.log' },
      { name: 'a', reply: 'other-box', file: '001.log' },
      { name: 'a', reply: 'reply:3', file: '001.log/../../../secret.log' },
    ];
    for (const request of requests) await store.post('requests:one', JSON.stringify(request));
    await store.post('requests:one', 'no request at all');
    expect(await fetchRecords(store, 'a', ['one'], () => {})).toEqual([]);
    expect([...boxes].filter(([, texts]) => texts.length > 0)).toEqual([]);
  });
});
