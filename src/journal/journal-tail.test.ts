import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tailJournal } from './journal-tail.ts';

const line = (seq: number) =>
  `${JSON.stringify({ v: 1, seq, at: '2026-11-01T00:00:00.000Z', type: 'notice', text: 'ä' })}\n`;

function journalFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tail-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'journal.ndjson');
}

describe('the tail of a journal', () => {
  it('gives what is new, and a torn line once it is whole', () => {
    const path = journalFile();
    const tail = tailJournal(path);
    expect(tail.read().events).toEqual([]);
    const bytes = Buffer.from(line(2));
    writeFileSync(path, Buffer.concat([Buffer.from(line(1)), bytes.subarray(0, -4)]));
    expect(tail.read().events.map(({ seq }) => seq)).toEqual([1]);
    expect(tail.read().events).toEqual([]);
    appendFileSync(path, bytes.subarray(-4));
    expect(tail.read()).toMatchObject({ damaged: 0, events: [{ seq: 2, text: 'ä' }] });
  });

  it('starts again when the file was replaced or cut', () => {
    const path = journalFile();
    writeFileSync(path, line(1) + line(2));
    const tail = tailJournal(path);
    expect(tail.read()).toMatchObject({ restarted: false, events: [{ seq: 1 }, { seq: 2 }] });
    writeFileSync(`${path}.new`, line(1) + line(2) + line(3));
    renameSync(`${path}.new`, path);
    expect(tail.read()).toMatchObject({ restarted: true, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] });
    truncateSync(path, line(1).length);
    expect(tail.read().restarted).toBe(true);
  });

  it('counts lines that are no events, and events of a newer release, and goes on behind them', () => {
    const path = journalFile();
    writeFileSync(path, `{"v":1\n[]\n${line(3)}${line(4).replace('notice', 'from.the.future')}`);
    const tail = tailJournal(path);
    expect(tail.read()).toMatchObject({ events: [{ seq: 3 }], damaged: 2, unknown: 1 });
    expect(tail.read()).toMatchObject({ events: [], damaged: 0, unknown: 0 });
  });
});
