import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newLoop } from '../core/decide.ts';
import type { LoopPlan, LoopState } from '../core/loop.ts';
import { resumable } from '../loop/resume.ts';
import { openJournal, readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { makeTempDir, removeTempDir } from '../system/temp.ts';
import { packRun, unpackRun } from './carried.ts';

const run = '20260101-000000-000abc';
const plan: LoopPlan = {
  id: run,
  completion: { promise: { token: 'DONE', match: 'claim' } },
  limits: {
    iterations: 9,
    wallMs: null,
    tokens: null,
    costUsd: null,
    iterationTokens: null,
    iterationCostUsd: null,
    waitMs: 0,
    failures: 5,
    withoutProgress: 3,
    withoutTools: 0,
    sameError: 6,
  },
  minToolCalls: 1,
  countInPrompt: false,
};
const here = { promptFile: '/two/prompt.md', task: 'The task.' };
let folder: string;
let one: string;
let two: string;

beforeEach(() => {
  folder = makeTempDir('carried-');
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
    expect(unpackRun(two, packRun(one, run, 4) ?? '', here)).toEqual({ run, first: 4 });
    const moved = resumable(two, run);
    expect(moved.prompt).toEqual({ file: '/two/prompt.md' });
    expect(moved.cli).toEqual([]);
    expect(moved.loop(plan, true)).toMatchObject({
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
    expect(resumable(one, run).loop(plan, false)).toMatchObject({
      withoutProgress: 0,
      failures: 0,
      sameError: 0,
    });
  });

  it('comes back to a machine that had it, whose journal stays and goes on', () => {
    begin(one);
    decide(one, { iteration: 2 });
    unpackRun(two, packRun(one, run, 1) ?? '', here);
    decide(two, { iteration: 5, withoutProgress: 1 });
    const before = readJournal(runPaths(one, run).journal).events;
    expect(unpackRun(one, packRun(two, run, 1) ?? '', here)).toEqual({ run, first: 1 });
    const { events, damaged } = readJournal(runPaths(one, run).journal);
    expect(events.slice(0, -1)).toEqual(before);
    expect(damaged).toBe(0);
    expect(resumable(one, run).loop(plan, true)).toMatchObject({ iteration: 5, withoutProgress: 1 });
  });

  it('changes nothing where the machine knows as much or more', () => {
    begin(one);
    decide(one, { iteration: 2 });
    const old = packRun(one, run, 1) ?? '';
    decide(one, { iteration: 3 });
    const before = readFileSync(runPaths(one, run).journal);
    expect(unpackRun(one, old, here)).toBeNull();
    expect(readFileSync(runPaths(one, run).journal).equals(before)).toBe(true);
  });

  it('is nothing where it never came to a decision, or is too large for the store', () => {
    expect(packRun(one, run, 1)).toBeNull();
    begin(one);
    expect(packRun(one, run, 1)).toBeNull();
    decide(one, { iteration: 2, feedback: [{ action: 'APPEND', text: 'x'.repeat(600_000) }] });
    expect(packRun(one, run, 1)).toBeNull();
  });

  it('is nothing, and written nowhere, where the text is damaged or names another place', () => {
    begin(one);
    decide(one, { iteration: 2 });
    const text = packRun(one, run, 1) ?? '';
    for (const bad of ['', '{}', 'null', text.replace(`"run":"${run}"`, '"run":"../../../escaped"')]) {
      expect(unpackRun(two, bad, here)).toBeNull();
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length - 1 }), (end) => {
        expect(unpackRun(two, text.slice(0, end), here)).toBeNull();
      }),
    );
    expect(existsSync(two)).toBe(false);
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
  });
});

function begin(cwd: string): void {
  const journal = openJournal(runPaths(cwd, run).journal, () => 1000);
  const cli = [{ key: 'allowHosts', value: ['example.com'], flag: '--allow-host' }] as const;
  const place = { run, version: '1', pid: 1, cwd, agent: 'claude', command: 'claude', cli };
  journal.append({ type: 'run.started', ...place, plan, task: 'secret', promptFile: '/one/prompt.md' });
  journal.close();
}

function decide(cwd: string, state: Partial<LoopState> & Pick<LoopState, 'iteration'>): void {
  const { plan: _plan, task: _task, ...loop } = { ...newLoop(plan, ''), ...state };
  const journal = openJournal(runPaths(cwd, run).journal, () => 2000);
  const because = { code: 'no-claim', text: 'not done' } as const;
  journal.append({ type: 'decision', iteration: state.iteration - 1, kind: 'continue', because, loop });
  journal.close();
}
