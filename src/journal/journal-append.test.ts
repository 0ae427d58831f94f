import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import type { EventBody } from './events.ts';
import { readJournal } from './journal.ts';
import { appendEvents } from './journal-append.ts';

let room: string;
let path: string;

beforeEach(() => {
  room = makeTempDir('ralph-append-');
  path = join(room, 'journal.ndjson');
});

afterEach(() => removeTempDir(room));

const notice = (text: string): EventBody => ({ type: 'notice', text });
const add = (...texts: string[]) => appendEvents(path, texts.map(notice), () => 0);
const seqs = () => readJournal(path).events.map(({ seq }) => seq);

describe('events that are added in passing', () => {
  it('number themselves on from those that are there', () => {
    add('a', 'b');
    add('c');
    add();
    add('d');
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ['a torn line', '{"v":1,"seq":9,"ty'],
    ['a torn line that is long', `{"v":1,"seq":9,"text":"${'x'.repeat(200_000)}`],
  ])('take the place of %s', (_name, torn) => {
    add('a');
    appendFileSync(path, torn);
    add('b');
    expect(seqs()).toEqual([1, 2]);
    expect(readJournal(path).damaged).toBe(0);
    expect(readFileSync(path, 'utf8')).not.toContain('"seq":9');
  });

  it('follow a line of any length, and one that is no event', () => {
    add('x'.repeat(300_000), 'y'.repeat(70_000));
    add('after');
    appendFileSync(path, 'no event\n');
    add('last');
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it('begin anew where nothing is whole', () => {
    writeFileSync(path, 'half a li');
    add('a');
    expect(seqs()).toEqual([1]);
    expect(readJournal(path).damaged).toBe(0);
  });
});
