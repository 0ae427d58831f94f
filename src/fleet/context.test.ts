import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextStep, sessionWords, tellsContext, watchContext } from './context.ts';
import { newRecord } from './files/loop-record.ts';
import type { LoopOptions, LoopRecord } from './files/loops.ts';
import type { Worker } from './files/workers.ts';

describe('the share of the context that an iteration may use', () => {
  it.each<[number | null, boolean, string]>([
    [null, false, 'go-on'],
    [69, false, 'go-on'],
    [70, false, 'wrap-up'],
    [84, true, 'go-on'],
    [85, false, 'end'],
    [100, true, 'end'],
  ])('at %s percent of 70, asked before: %s, means %s', (percent, asked, kind) => {
    expect(contextStep(percent, 70, asked).kind).toBe(kind);
  });

  it('is no matter where nobody set it', () => {
    expect(contextStep(99, undefined, false)).toEqual({ kind: 'go-on' });
  });
});

describe('the context of Claude Code', () => {
  it('is read from the record of its own session, and asked for once', () => {
    const { watch, write } = room({ maxContext: 70 });
    expect(watch()?.([])).toEqual({ kind: 'go-on' });
    const watched = watch();
    write(usage(100_000));
    expect(watched?.([])).toEqual({ kind: 'go-on' });
    write(usage(150_000));
    expect(watched?.([])).toEqual({ kind: 'wrap-up', percent: 75 });
    expect(watched?.([])).toEqual({ kind: 'go-on' });
    write(usage(172_000));
    expect(watched?.([])).toEqual({ kind: 'end', because: 'the context is 86 % full' });
  });

  it('ends the iteration when it was compacted, where that was asked for', () => {
    const { watch, write } = room({ restartOnCompact: true });
    const watched = watch();
    write(usage(190_000));
    expect(watched?.([])).toEqual({ kind: 'go-on' });
    write({ type: 'system', subtype: 'compact_boundary' });
    expect(watched?.([])).toEqual({ kind: 'end', because: 'the context was compacted' });
  });

  it('has a session of its own for each start', () => {
    const { words } = room({ maxContext: 70 });
    const [flag, session = ''] = words(1);
    expect(flag).toBe('--session-id');
    expect(session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(words(1)[1]).toBe(session);
    expect(words(2)[1]).not.toBe(session);
    expect(room({ maxContext: 70 }, ['claude', '--resume', 'x']).words(1)).toEqual([]);
    expect(room({}).words(1)).toEqual([]);
  });
});

describe('the context of other agents', () => {
  it('is read from the screen', () => {
    const { watch } = room({ maxContext: 50 }, ['pi']);
    const screen = (percent: number) => ['~/project (main)', `↑1.0k ${percent}%/200k (auto)`];
    const watched = watch();
    expect(watched?.(screen(49))).toEqual({ kind: 'go-on' });
    expect(watched?.(screen(51))).toEqual({ kind: 'wrap-up', percent: 51 });
    expect(watched?.(screen(65)).kind).toBe('end');
  });

  it('is nobody’s concern where nobody asked, and unknown where nothing tells it', () => {
    expect(room({}).watch()).toBeNull();
    expect([['claude'], ['amp'], ['codex'], ['./mine.sh']].map(tellsContext)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

function room(options: LoopOptions, cmd: readonly string[] = ['claude']) {
  const home = mkdtempSync(join(tmpdir(), 'context-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home };
  const worker: Worker = {
    name: 'one',
    status: 'running',
    cmd,
    started: '',
    cwd: home,
    env: {},
    tags: [],
    tmux: null,
    worktree: null,
    pid: null,
    metadata: {},
  };
  const settings = { prompt_file: '', max_iterations: 3, done_pattern: null, inactivity_timeout: 60 };
  const loop = (launch: number): LoopRecord => ({
    ...newRecord('one', { settings, options, held: false }, 0),
    launch,
  });
  const words = (launch: number) => sessionWords(env, worker, loop(launch));
  const path = join(home, '.claude', 'projects', '-home-dev-project', `${words(1)[1]}.jsonl`);
  return {
    words,
    watch: () => watchContext(env, worker, loop(1)),
    write(entry: object) {
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, `${JSON.stringify(entry)}\n`);
    },
  };
}

function usage(tokens: number) {
  return { type: 'assistant', message: { usage: { input_tokens: tokens, output_tokens: 0 } } };
}
