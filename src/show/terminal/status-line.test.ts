import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { RunView } from '../../journal/run-view.ts';
import { noFigures, statusLine } from './status-line.ts';
import { createStyle } from './style.ts';
import { widthOf } from './width.ts';

const start = Date.parse('2026-11-01T00:00:00.000Z');
const style = createStyle({ env: {}, isTTY: false });
const usage = {
  inputTokens: 5000,
  outputTokens: 3000,
  cacheReadTokens: 40_000,
  cacheWriteTokens: 0,
  costUsd: 0.5,
};

function view() {
  const folded = new RunView('r');
  const check = (command: string, ok: boolean): EventBody[] => [
    { type: 'guardrail.started', iteration: 3, command },
    {
      type: 'guardrail.ended',
      iteration: 3,
      command,
      ok,
      exitCode: ok ? 0 : 1,
      timedOut: false,
      ms: 5,
      log: 'x',
      action: 'APPEND',
    },
  ];
  const events: EventBody[] = [
    { type: 'iteration.started', iteration: 3, of: 15, promptChars: 1 },
    {
      type: 'todo',
      iteration: 3,
      items: [
        { text: 'a', status: 'done' },
        { text: 'b', status: 'active' },
      ],
    },
    {
      type: 'agent.ended',
      iteration: 3,
      end: 'finished',
      cause: 'exited',
      exitCode: 0,
      toolCalls: 1,
      ms: 1,
      usage,
      progress: { commits: 0, filesChanged: 0 },
      text: '',
    },
    ...check('lint', true),
    ...check('test', false),
    { type: 'iteration.started', iteration: 4, of: 15, promptChars: 1 },
  ];
  for (const [index, body] of events.entries()) {
    addEvent(folded, { v: 1, seq: index + 1, at: new Date(start + index * 1000).toISOString(), ...body });
  }
  return folded;
}

const live = {
  usage: { ...usage, costUsd: 0.08, estimated: true },
  context: { tokens: 82_000, window: 200_000 },
  lastSign: start + 118_000,
};
const now = start + 130_000;

describe('statusLine', () => {
  it('tells iteration, time, tokens, cost, context, tasks, guardrails and idleness', () => {
    expect(statusLine(view(), live, { style, width: 200, now })).toBe(
      'iter 4/15 · 2m10s · ↑90K ↓6K · $0.58 (est) · ctx 41% · 1/2 tasks · guard ✓✗ · idle 12s',
    );
  });

  it('leaves out what matters least where there is no room', () => {
    const at = (width: number) => statusLine(view(), live, { style, width, now });
    expect(at(60)).toBe('iter 4/15 · 2m10s · $0.58 (est) · 1/2 tasks · guard ✓✗');
    expect(at(24)).toBe('iter 4/15 · 2m10s');
    for (let width = 9; width < 100; width++) expect(widthOf(at(width))).toBeLessThanOrEqual(width);
  });

  it('says nothing that nobody told: no cost, no context, no idleness of an agent that speaks', () => {
    const bare = new RunView('r');
    const body = { type: 'iteration.started', iteration: 1, of: null, promptChars: 1 } as const;
    addEvent(bare, { v: 1, seq: 1, at: new Date(start).toISOString(), ...body });
    const speaks = { ...noFigures, lastSign: start + 4000 };
    expect(statusLine(bare, speaks, { style, width: 80, now: start + 5000 })).toBe('iter 1 · 5s');
  });

  it('shows the context in tokens where nobody told how large it may be', () => {
    const line = statusLine(view(), { ...live, context: { tokens: 82_000 } }, { style, width: 200, now });
    expect(line).toContain('ctx 82K');
  });

  it('is plain ASCII where the terminal has nothing else', () => {
    const ascii = createStyle({ env: { NO_EMOJI: '1' }, isTTY: false });
    const line = statusLine(view(), live, { style: ascii, width: 200, now });
    expect(line).toMatch(/^[\x20-\x7e]+$/);
    expect(line).toContain('guard +x');
  });

  it('says that the loop is paused', () => {
    const paused = { ...view(), state: 'waiting' as const, waitFor: 'paused by a person' };
    const line = statusLine(paused, noFigures, { style, width: 200, now: start + 60_000 });
    expect(line).toMatch(/paused$/);
  });
});
