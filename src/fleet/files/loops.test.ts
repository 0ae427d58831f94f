import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLoop, type LoopRecord, readLoop, retireLoop, updateLoop } from './loops.ts';
import { loopPaths } from './paths.ts';

const loop: LoopRecord = {
  v: 1,
  name: 'a',
  status: 'running',
  iteration: 2,
  ended: 2,
  launch: 7,
  startedAt: 1000,
  iterationStartedAt: 2000,
  failures: 0,
  totalFailures: 0,
  waitUntil: null,
  held: false,
  end: null,
  why: { state: 'working', since: 2000 },
  settings: { prompt_file: '/p.md', max_iterations: 10, done_pattern: null, inactivity_timeout: 60 },
  options: { run: ['--verify=npm test'], engine: ['ralph'] },
  lines: [],
};

let home: string;
let env: { readonly SWARM_HOME: string };
const paths = () => loopPaths(env, 'a');

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'loops-'));
  env = { SWARM_HOME: home };
  createLoop(env, loop);
});
afterEach(() => rmSync(home, { recursive: true }));

function edit(change: Record<string, unknown>): void {
  const state = JSON.parse(readFileSync(paths().state, 'utf8'));
  writeFileSync(paths().state, JSON.stringify({ ...state, ...change }));
}

describe('an edit of state.json', () => {
  it('counts field by field, and what cannot be meant is named in the log', () => {
    edit({ max_iterations: 'abc', inactivity_timeout: 90, done_pattern: 'DONE' });
    const wanted = { ...loop.settings, inactivity_timeout: 90, done_pattern: 'DONE' };
    expect(readLoop(env, 'a')?.settings).toEqual(wanted);
    updateLoop(env, 'a', () => ({ change: {} }));
    expect(readLoop(env, 'a')?.settings).toEqual(wanted);
    expect(readFileSync(paths().log, 'utf8')).toMatch(
      /^\S+ \[WARN\] max_iterations cannot be "abc": it stays 10\n$/,
    );
    updateLoop(env, 'a', () => ({ change: {} }));
    expect(readFileSync(paths().log, 'utf8').split('\n')).toHaveLength(2);
  });

  it('is kept, though it comes while the loop takes a step', () => {
    updateLoop(env, 'a', () => {
      edit({ max_iterations: 20 });
      return { change: { iteration: 3 } };
    });
    expect(readLoop(env, 'a')).toMatchObject({ iteration: 3, settings: { max_iterations: 20 } });
    createLoop(env, loop);
    expect(readLoop(env, 'a')?.settings).toEqual(loop.settings);
  });

  it('that is no JSON any more is named in the log', () => {
    writeFileSync(paths().state, '{"max_iterations": 20,}');
    updateLoop(env, 'a', () => ({ change: {} }));
    expect(readLoop(env, 'a')?.settings).toEqual(loop.settings);
    expect(readFileSync(paths().log, 'utf8')).toMatch(
      /^\S+ \[WARN\] state\.json was not valid JSON: it is written anew, without the edit\n$/,
    );
  });
});

describe('a damaged record of a loop', () => {
  it('pauses the loop: nobody knows any more what it was asked to check', () => {
    writeFileSync(paths().record, '{"v":1,');
    const why = { state: 'paused', detail: 'its record was damaged, and its options are lost' };
    expect(readLoop(env, 'a')).toMatchObject({ status: 'paused', iteration: 2, why });
    expect(readLoop(env, 'a')).toMatchObject({ status: 'paused', why });
  });

  it('is gone with the rest when the loop is retired', () => {
    updateLoop(env, 'a', () => ({ change: {}, lines: ['a line'] }));
    writeFileSync(paths().record, '{"v":1,');
    readLoop(env, 'a');
    expect(existsSync(`${paths().record}.bad-1`)).toBe(true);
    retireLoop(env, 'a');
    expect(readdirSync(paths().root).sort()).toEqual(['iterations.log', 'state.json']);
  });

  it('is nothing that a loop of another program has', () => {
    rmSync(paths().record);
    expect(readLoop(env, 'a')).toMatchObject({ status: 'running', options: {} });
  });
});
