import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  clearState,
  incrementIteration,
  type RalphLoopState,
  readState,
  replaceState,
  silentLog,
  writeState,
} from './embedded-loop.ts';

const state: RalphLoopState = {
  active: true,
  iteration: 1,
  maxIterations: 10,
  completionPromise: 'DONE',
  startedAt: '2026-01-01T00:00:00.000Z',
  prompt: 'mend it',
  sessionId: 's1',
};
let workdir: string;
const place = () => ({ workdir, log: silentLog });

beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'embedded-'));
});

afterEach(() => rmSync(workdir, { recursive: true, force: true }));

describe('RalphLoopStorage', () => {
  it('should write and read state', () => {
    expect(writeState(workdir, state)).toBe(true);
    expect(readState(workdir)).toEqual(state);
    const text = readFileSync(join(workdir, '.ralph/ralph-loop-state.json'), 'utf8');
    expect(JSON.parse(text)).toEqual(state);
  });

  it('should increment iteration', () => {
    writeState(workdir, state);
    expect(incrementIteration(workdir)).toMatchObject({ iteration: 2, lastIterationAt: expect.any(String) });
    expect(readState(workdir)?.iteration).toBe(2);
    expect(incrementIteration(join(workdir, 'nothing'))).toBeNull();
  });

  it('should clear state', () => {
    writeState(workdir, state);
    expect(clearState(workdir)).toBe(true);
    expect(readState(workdir)).toBeNull();
    expect(clearState(workdir)).toBe(true);
    expect(clearState(join(workdir, 'nothing'))).toBe(true);
  });

  it('keeps the state in stateDir where there is one', () => {
    const stateDir = join(workdir, 'elsewhere', 'deep');
    writeState(workdir, state, stateDir);
    expect(readdirSync(stateDir)).toEqual(['ralph-loop-state.json']);
    expect(readState(workdir)).toBeNull();
  });

  it.each([
    ['torn', '{"active": tr'],
    ['foreign', '{"some": "thing"}'],
    ['wrong', JSON.stringify({ ...state, iteration: 'two' })],
    ['a list', '[]'],
  ])('sets a state that is %s aside with a warning', (_, text) => {
    writeState(workdir, state);
    writeFileSync(join(workdir, '.ralph/ralph-loop-state.json'), text);
    const warnings: string[] = [];
    const log = { info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    expect(readState(workdir, undefined, log)).toBeNull();
    expect(warnings).toHaveLength(1);
    expect(readFileSync(join(workdir, '.ralph/ralph-loop-state.json.bad-1'), 'utf8')).toBe(text);
    expect(readState(workdir, undefined, log)).toBeNull();
    expect(warnings).toHaveLength(1);
  });

  it('says so when the state cannot be written', () => {
    writeFileSync(join(workdir, 'file'), '');
    const errors: string[] = [];
    const log = { info() {}, warn() {}, error: (message: string) => void errors.push(message) };
    expect(writeState(workdir, state, join(workdir, 'file'), log)).toBe(false);
    expect(errors).toHaveLength(1);
  });

  it('replaces only the state that was read', () => {
    writeState(workdir, state);
    const next = { ...state, iteration: 2, counters: { toolCalls: 1, withoutTools: 0, failures: 0 } };
    expect(replaceState(place(), state, next)).toBe(true);
    expect(readState(workdir)).toEqual(next);
    expect(replaceState(place(), state, { ...state, iteration: 9 })).toBe(false);
    expect(replaceState(place(), { ...next, counters: { ...next.counters, toolCalls: 2 } }, null)).toBe(
      false,
    );
    expect(readState(workdir)).toEqual(next);
  });

  it('does not bring back a state that was removed', () => {
    writeState(workdir, state);
    clearState(workdir);
    expect(replaceState(place(), state, { ...state, iteration: 2 })).toBe(false);
    expect(readState(workdir)).toBeNull();
  });

  it('gives any text back as it was', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (prompt, sessionId) => {
        writeState(workdir, { ...state, prompt, sessionId });
        expect(readState(workdir)).toEqual({ ...state, prompt, sessionId });
      }),
      { numRuns: 10 },
    );
  });
});
