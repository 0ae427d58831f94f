import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aPlan, aSavedLoop } from '../../test/core/loop-examples.ts';
import { runPaths } from '../config/paths.ts';
import type { LoopState } from '../core/loop.ts';
import { resumable } from '../drive/process/resume.ts';
import { openJournal, readJournal } from '../journal/journal.ts';
import { readRun } from '../journal/runs.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { packRun, unpackRun } from './run-state.ts';

const run = '20260101-000000-000abc';
const pack = (place: { readonly cwd: string; readonly id: string }) =>
  packRun(place, readRun(place.cwd, place.id));
const plan = aPlan();
const here = { promptFile: '/two/prompt.md', task: 'The task.' };
let folder: string;
let one: string;
let two: string;

beforeEach(() => {
  folder = makeTempDir('run-state-');
  [one, two] = [join(folder, 'one'), join(folder, 'two')];
});
afterEach(() => removeTempDir(folder));

describe('a run that moves to another machine', () => {
  it('goes on there with its counts, its feedback and its protected files', () => {
    begin(one);
    decide(one, {
      iteration: 3,
      withoutProgress: 2,
      failures: 1,
      feedback: [{ action: 'APPEND', text: 'mend it' }],
    });
    writeFileSync(runPaths(one, run).protected, '{"a":"1"}\n');
    move(one, two, 3);
    const moved = resumable(two, run);
    expect(moved.prompt).toEqual({ file: '/two/prompt.md' });
    expect(moved.cli).toEqual([]);
    expect(moved.loop(plan, { counting: true })).toMatchObject({
      task: 'The task.',
      iteration: 3,
      withoutProgress: 2,
      failures: 1,
      feedback: [{ text: 'mend it' }],
    });
    expect(readFileSync(runPaths(two, run).protected, 'utf8')).toBe('{"a":"1"}\n');
  });

  it('begins with no counts where a person resumes it', () => {
    begin(one);
    decide(one, { iteration: 3, withoutProgress: 2, failures: 1, sameError: 2 });
    expect(resumable(one, run).loop(plan, { counting: false })).toMatchObject({
      withoutProgress: 0,
      failures: 0,
      sameError: 0,
    });
  });

  it('comes back to a machine that had it, whose journal stays and goes on', () => {
    begin(one);
    decide(one, { iteration: 2 });
    move(one, two, 2);
    decide(two, { iteration: 5, withoutProgress: 1 });
    const before = readJournal(runPaths(one, run).journal).events;
    move(two, one, 5);
    const { events, damaged } = readJournal(runPaths(one, run).journal);
    expect(events.slice(0, -2)).toEqual(before);
    expect(damaged).toBe(0);
    expect(resumable(one, run).loop(plan, { counting: true })).toMatchObject({
      iteration: 5,
      withoutProgress: 1,
    });
  });

  it('changes nothing where the machine knows as much', () => {
    begin(one);
    decide(one, { iteration: 3 });
    const before = readFileSync(runPaths(one, run).journal);
    move(one, one, 3);
    expect(readFileSync(runPaths(one, run).journal).equals(before)).toBe(true);
  });

  it('is as it was booked where the machine has decided more, whose work was refused', () => {
    begin(one);
    decide(one, { iteration: 3, failures: 1 });
    const booked = pack({ cwd: one, id: run }) ?? '';
    decide(one, { iteration: 3, outcome: 'PROMISE_ACCEPTED' }, 'stop');
    unpackRun({ cwd: one, id: run }, booked, 3, here);
    expect(resumable(one, run).loop(plan, { counting: true })).toMatchObject({ iteration: 3, failures: 1 });
    // What was booked elsewhere meanwhile counts, and not what was interrupted here.
    decide(one, { iteration: 3, outcome: 'INTERRUPTED' }, 'stop');
    unpackRun({ cwd: two, id: run }, booked, 3, here);
    decide(two, { iteration: 4, failures: 2 });
    move(two, one, 4);
    expect(resumable(one, run).loop(plan, { counting: true })).toMatchObject({ iteration: 4, failures: 2 });
  });

  it('is nothing where it never came to a decision, or is too large for the store', () => {
    const place = { cwd: one, id: run };
    expect(pack(place)).toBeNull();
    begin(one);
    expect(pack(place)).toBeNull();
    decide(one, { iteration: 2, feedback: [{ action: 'APPEND', text: 'x'.repeat(600_000) }] });
    expect(pack(place)).toBeNull();
  });

  it('is nothing, and written nowhere, where the text is damaged', () => {
    begin(one);
    decide(one, { iteration: 2 });
    const text = pack({ cwd: one, id: run }) ?? '';
    const place = { cwd: two, id: run };
    for (const bad of ['', '{}', 'null', text.replace('run.started', 'run.stated')]) {
      unpackRun(place, bad, 2, here);
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length - 1 }), (end) => {
        unpackRun(place, text.slice(0, end), 2, here);
      }),
    );
    expect(existsSync(two)).toBe(false);
  });
});

/** Carries the run from one machine to another, which is to run that iteration. */
function move(from: string, to: string, iteration: number): void {
  unpackRun({ cwd: to, id: run }, pack({ cwd: from, id: run }) ?? '', iteration, here);
}

function begin(cwd: string): void {
  const journal = openJournal(runPaths(cwd, run).journal, () => 1000);
  const cli = [{ key: 'allowHosts', value: ['example.com'], flag: '--allow-host' }] as const;
  const place = { run, version: '1', pid: 1, cwd, agent: 'claude', command: 'claude', cli };
  journal.append({ type: 'run.started', ...place, plan, task: 'secret', promptFile: '/one/prompt.md' });
  journal.close();
}

/** Appends a decision; the state names the iteration that comes next or, of a stop, the last one. */
function decide(
  cwd: string,
  state: Partial<LoopState> & Pick<LoopState, 'iteration'>,
  kind: 'continue' | 'stop' = 'continue',
): void {
  const loop = aSavedLoop(state);
  const journal = openJournal(runPaths(cwd, run).journal, () => 2000);
  const because = { code: 'no-claim', text: 'not done' } as const;
  const iteration = kind === 'stop' ? state.iteration : state.iteration - 1;
  const end = kind === 'stop' && loop.outcome ? { outcome: loop.outcome } : {};
  journal.append({ type: 'decision', iteration, kind, because, ...end, loop });
  journal.close();
}
