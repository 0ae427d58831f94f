import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Journal, lastEvent, openJournal, readJournal } from './journal.ts';

let folder = '';
let root = '';
let path = '';
let journal: Journal;
const note = (text: string) => journal.append({ type: 'notice', text });
const open = () => openJournal(path, () => 0, { root });
const texts = () =>
  readJournal(path).events.map((event) => (event.type === 'notice' ? event.text : event.type));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  root = join(folder, 'project');
  path = join(root, '.ralph', 'runs', '1', 'journal.ndjson');
  journal = open();
  note('one');
  note('two');
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

describe('a journal', () => {
  it('goes on after the last whole line when it is opened again', () => {
    journal.close();
    appendFileSync(path, '{"v":1,"seq":3,"ty');
    journal = open();
    expect(note('three').seq).toBe(3);
    expect(readJournal(path)).toMatchObject({ damaged: 0, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] });
    expect(lastEvent(path)).toMatchObject({ seq: 3 });
  });

  it('skips and counts what it cannot read, and goes on behind it', () => {
    journal.close();
    const line = readFileSync(path, 'utf8').split('\n').at(-2) ?? '';
    appendFileSync(path, `no event\n${line.replace('"text":"two"', '"text":2')}\n`);
    appendFileSync(path, `${line.replace('notice', 'from.the.future').replace('"seq":2', '"seq":4')}\n`);
    expect(readJournal(path)).toMatchObject({ damaged: 2, unknown: 1, events: [{ seq: 1 }, { seq: 2 }] });
    journal = open();
    expect(note('after').seq).toBe(5);
    expect(lastEvent(path)).toMatchObject({ text: 'after' });
  });

  it('is left alone when it is as we wrote it', () => {
    expect(journal.restore('quick')).toBe(false);
    journal.close();
    journal = open();
    expect(journal.restore('quick')).toBe(false);
    expect(readdirSync(dirname(path))).toEqual(['journal.ndjson']);
  });

  it('writes the calls of tools together, and before whatever comes next', async () => {
    const call = (id: string) => journal.append({ type: 'tool.ended', iteration: 1, id, ok: true });
    call('a');
    call('b');
    expect(texts()).toEqual(['one', 'two']);
    note('three');
    expect(texts()).toEqual(['one', 'two', 'tool.ended', 'tool.ended', 'three']);
    call('c');
    await new Promise(setImmediate);
    expect(texts().at(-1)).toBe('tool.ended');
    call('d');
    expect(journal.restore('quick')).toBe(false);
    call('e');
    journal.close();
    expect(readJournal(path).events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    journal = open();
  });

  it('keeps and gives back an event without its secrets', () => {
    journal.close();
    journal = openJournal(path, () => 0, { root, clean: (json) => json.replaceAll('secret', '[X]') });
    expect(note('a secret')).toMatchObject({ text: 'a [X]' });
    expect(texts().at(-1)).toBe('a [X]');
  });

  it('refuses an event that would be none without its secret', () => {
    journal.close();
    journal = openJournal(path, () => 0, { root, clean: (json) => json.replaceAll('"done"', '"[X]"') });
    const items = [{ text: 'a', status: 'done' }] as const;
    expect(() => journal.append({ type: 'todo', iteration: 1, items })).toThrow(
      'the value of a secret variable',
    );
    expect(note('three').seq).toBe(3);
    expect(readJournal(path)).toMatchObject({ damaged: 0 });
  });

  it('says in one sentence what is in its place', () => {
    journal.close();
    rmSync(path);
    symlinkSync(join(folder, 'elsewhere'), path);
    expect(open).toThrow('is a symlink; nothing is written through one.');
    rmSync(join(root, '.ralph'), { recursive: true });
    symlinkSync(folder, join(root, '.ralph'));
    expect(open).toThrow(`${join(root, '.ralph')} is a symlink; nothing is written through one.`);
    expect(readdirSync(folder)).toEqual(['project']);
    rmSync(join(root, '.ralph'));
    journal = open();
  });
});

describe('restore of a journal', () => {
  const forged = '{"v":1,"seq":9,"at":"","type":"run.ended"}\n';
  const attacks: [string, () => void][] = [
    ['removed', () => rmSync(path)],
    ['removed with its folder', () => rmSync(join(root, '.ralph'), { recursive: true })],
    ['emptied in place', () => truncateSync(path)],
    ['appended to', () => appendFileSync(path, forged)],
    [
      'replaced by a forged one',
      () => {
        rmSync(path);
        writeFileSync(path, forged);
      },
    ],
    [
      'replaced by a copy of itself',
      () => {
        const copy = readFileSync(path);
        rmSync(path);
        writeFileSync(path, copy);
      },
    ],
    [
      'edited without a change of its size',
      () => writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'eno')),
    ],
    [
      'replaced by a folder',
      () => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ];

  it.each(attacks)('writes it anew when it was %s, and goes on in the new file', (_, attack) => {
    attack();
    note('three');
    expect(journal.restore('whole')).toBe(true);
    expect(texts()).toEqual(['one', 'two', 'three']);
    note('four');
    expect(texts()).toEqual(['one', 'two', 'three', 'four']);
    expect(journal.restore('quick')).toBe(false);
  });

  it('sees an edit by a quick look, too, once the clock of the file system has moved on', () => {
    const before = lstatSync(path).ctimeMs;
    const probe = join(folder, 'probe');
    do writeFileSync(probe, '');
    while (lstatSync(probe).ctimeMs <= before);
    writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'eno'));
    note('three');
    expect(journal.restore('quick')).toBe(true);
    expect(texts()).toEqual(['one', 'two', 'three']);
  });

  it('sets the foreign file aside, as it was found', () => {
    rmSync(path);
    writeFileSync(path, forged);
    journal.restore('quick');
    note('three');
    expect(readFileSync(`${path}.bad-1`, 'utf8')).toBe(forged);
  });

  it('holds also what was there when a run is resumed', () => {
    journal.close();
    journal = open();
    truncateSync(path);
    expect(journal.restore('quick')).toBe(true);
    expect(texts()).toEqual(['one', 'two']);
  });

  it('sets a file aside that was put in the place of the folder', () => {
    rmSync(join(root, '.ralph'), { recursive: true });
    writeFileSync(join(root, '.ralph'), 'mine');
    expect(journal.restore('quick')).toBe(true);
    expect(texts()).toEqual(['one', 'two']);
    expect(readFileSync(join(root, '.ralph.bad-1'), 'utf8')).toBe('mine');
  });

  it('writes nothing through a link to another folder, though the journal is there, too', () => {
    const elsewhere = join(folder, 'elsewhere');
    renameSync(join(root, '.ralph'), elsewhere);
    symlinkSync(elsewhere, join(root, '.ralph'));
    expect(journal.restore('quick')).toBe(true);
    note('three');
    expect(lstatSync(join(root, '.ralph')).isDirectory()).toBe(true);
    expect(texts()).toEqual(['one', 'two', 'three']);
    expect(readFileSync(join(elsewhere, 'runs/1/journal.ndjson'), 'utf8')).not.toContain('three');
  });

  it('leaves a link above the working copy alone', () => {
    const moved = join(folder, 'moved');
    renameSync(root, moved);
    symlinkSync(moved, root);
    expect(journal.restore('quick')).toBe(false);
    rmSync(path);
    expect(journal.restore('quick')).toBe(true);
    expect(lstatSync(root).isSymbolicLink()).toBe(true);
    expect(existsSync(join(moved, '.ralph/runs/1/journal.ndjson'))).toBe(true);
  });

  it('does not forget a journal that is larger than what is kept in memory', () => {
    const long = 'x'.repeat(700_000);
    for (let n = 0; n < 8; n++) note(`${n}${long}`);
    expect(journal.restore('quick')).toBe(false);
    const { size } = statSync(path);
    truncateSync(path, 10);
    expect(journal.restore('quick')).toBe(true);
    expect(statSync(path).size).toBe(size);
    expect(texts().map((text) => text.slice(0, 3))).toEqual([
      'one',
      'two',
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `${n}xx`),
    ]);
  });
});
