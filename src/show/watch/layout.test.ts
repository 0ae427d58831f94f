import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { RunView } from '../../journal/run-view.ts';
import { noFigures } from '../terminal/status-line.ts';
import { createStyle } from '../terminal/style.ts';
import { widthOf } from '../terminal/width.ts';
import { startState, type WatchState } from './keys.ts';
import { layoutWatch } from './layout.ts';

const start = Date.parse('2026-11-01T00:00:00.000Z');
const plain = createStyle({ env: {}, isTTY: false });
const colours = createStyle({ env: {}, isTTY: true });
const esc = '\x1b';
const paint = new RegExp(`${esc}\\[\\d+m`, 'g');
const progress = { commits: 0, filesChanged: 1 };

function go(iteration: number, text: string, ok: boolean): EventBody[] {
  const command = `npm test ${text}`;
  const log = 'x.log';
  return [
    { type: 'iteration.started', iteration, of: 500, promptChars: 1 },
    { type: 'agent.started', iteration, pid: 1, argv: [] },
    { type: 'todo', iteration, items: [{ text, status: 'active' }] },
    { type: 'tool.started', iteration, id: 't', name: 'Bash', summary: text },
    { type: 'tool.ended', iteration, id: 't', ok },
    {
      type: 'agent.ended',
      iteration,
      end: 'finished',
      cause: 'exited',
      exitCode: 0,
      toolCalls: 1,
      ms: 500,
      progress,
      text,
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, costUsd: 0.25 },
    },
    { type: 'guardrail.started', iteration, command },
    {
      type: 'guardrail.ended',
      iteration,
      command,
      ok,
      exitCode: 1,
      timedOut: false,
      ms: 9,
      log,
      action: 'APPEND',
    },
    {
      type: 'verdict',
      iteration,
      accepted: false,
      because: text,
      evidence: [{ check: text, ok, detail: text }],
    },
  ];
}

function loopOf(bodies: readonly EventBody[]): RunView {
  const loop = new RunView('20261101-000000-000abc');
  for (const [index, body] of bodies.entries()) {
    addEvent(loop, { v: 1, seq: index + 1, at: new Date(start + index * 1000).toISOString(), ...body });
  }
  return loop;
}

function screen(
  loop: RunView,
  columns: number,
  rows: number,
  state: Partial<WatchState> = {},
  style = plain,
) {
  const view = {
    loop,
    live: noFigures,
    isAlive: true,
    output: loop.iterations.at(-1)?.text ?? '',
    log: null,
    state: { ...startState, ...state },
  };
  return layoutWatch(view, { style, columns, rows, now: start + 60_000 });
}

describe('the watch screen', () => {
  it('shows everything at 80x24', () => {
    const lines = screen(loopOf([...go(1, 'a', false), ...go(2, 'a', true).slice(0, 4)]), 80, 24).join('\n');
    for (const part of [
      'Timeline',
      'rejected: a',
      'Now',
      'Bash(a)',
      'npm test a  ✗',
      'Todo 0/1',
      'Output of iteration 2',
    ]) {
      expect(lines).toContain(part);
    }
  });

  it('has two columns where there is room', () => {
    const lines = screen(loopOf(go(1, 'a', true)), 200, 60);
    expect(lines.some((line) => /Timeline .*│.* Now /.test(line))).toBe(true);
  });

  it('keeps the selected iteration on the screen among five hundred', () => {
    const loop = loopOf(Array.from({ length: 500 }, (_, index) => go(index + 1, 'a', true)).flat());
    const shown = (selected: number | null) =>
      screen(loop, 80, 24, { selected })
        .filter((line) => line.startsWith('>'))
        .map((line) => Number(line.slice(1, 6)));
    expect([shown(null), shown(0), shown(250)]).toEqual([[500], [1], [251]]);
  });

  it('says how a run ended and what to type next', () => {
    const because = { code: 'blocked', text: 'no key' } as const;
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const ended: EventBody = {
      type: 'run.ended',
      outcome: 'BLOCKED',
      exitCode: 4,
      because,
      iterations: 1,
      usage,
      ms: 1,
    };
    const lines = screen(loopOf([...go(1, 'a', true), ended]), 80, 24).join('\n');
    expect(lines).toContain('no key');
    expect(lines).toContain('ralph answer "..." && ralph run --resume');
  });

  it('cuts a failing guardrail last, and says how many more there are', () => {
    const commands = Array.from({ length: 9 }, (_, n) => `npm run check-${n}`);
    const ends = commands.flatMap((command, n): EventBody[] => [
      { type: 'guardrail.started', iteration: 1, command },
      {
        type: 'guardrail.ended',
        ...{ iteration: 1, command, ok: n !== 7, exitCode: n === 7 ? 1 : 0, timedOut: false, ms: 9 },
        ...{ log: 'x.log', action: 'APPEND' },
      },
    ]);
    const lines = screen(loopOf([...go(1, 'a', true), ...ends]), 80, 24).join('\n');
    expect(lines).toContain('npm run check-7');
    expect(lines).toContain('+9 more');
  });

  it('scrolls through the evidence', () => {
    const evidence = Array.from({ length: 30 }, (_, n) => ({
      check: `check-${n}`,
      ok: true,
      detail: 'fine',
    }));
    const verdict: EventBody = { type: 'verdict', iteration: 1, accepted: true, because: 'all', evidence };
    const loop = loopOf([...go(1, 'a', true), verdict]);
    const pane = (scroll: number) => screen(loop, 80, 24, { pane: 'evidence', scroll }).join('\n');
    expect(pane(0)).toContain('check-0:');
    expect(pane(0)).not.toContain('check-29');
    expect(pane(999)).toContain('check-29');
  });

  it('fits any window, whatever the agent wrote, and lets none of its sequences through', () => {
    const hostile = fc
      .array(
        fc.constantFrom(
          'word ',
          '漢',
          '😀',
          '\x1b[2J',
          '\x1b]0;x\x07',
          '\n',
          '\t',
          '\r',
          '\u202e',
          '\x9b1m',
          'e\u0301',
        ),
        {
          maxLength: 40,
        },
      )
      .map((parts) => parts.join(''));
    const states = fc.record({
      selected: fc.constantFrom(null, 0, 1, 7),
      pane: fc.constantFrom('output' as const, 'evidence' as const, 'log' as const),
      help: fc.boolean(),
    });
    const sizes = fc.tuple(fc.integer({ min: 1, max: 230 }), fc.integer({ min: 1, max: 70 }));
    fc.assert(
      fc.property(hostile, states, sizes, fc.boolean(), (text, state, [columns, rows], painted) => {
        const loop = loopOf([...go(1, text, true), ...go(2, text, false), ...go(3, text, true).slice(0, 4)]);
        // What the live output gives is clean already.
        for (const one of loop.iterations) one.text = 'clean';
        const lines = screen(loop, columns, rows, state, painted ? colours : plain);
        expect(lines).toHaveLength(rows);
        for (const line of lines) {
          expect(widthOf(line)).toBeLessThanOrEqual(columns);
          expect(line.replace(paint, '')).not.toMatch(/[\p{Cc}\u202e]/u);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says that a person paused the loop, not that the agent thinks', () => {
    const paused: EventBody = { type: 'paused', because: 'paused by a person (ralph unpause)' };
    const lines = screen(loopOf([...go(1, 'a', true), paused]), 80, 24);
    expect(lines[0]).toContain('waiting');
    expect(lines.join('\n')).toMatch(/paused by a person \(ralph unpause\) 51s/);
    expect(lines.join('\n')).not.toContain('The agent thinks');
  });

  it('has help that fits 80 columns', () => {
    const help = screen(loopOf(go(1, 'a', true)), 400, 40, { help: true }).map((line) => line.trimEnd());
    // The first and the last are those of the screen itself.
    expect(Math.max(...help.slice(1, -1).map(widthOf))).toBeLessThanOrEqual(80);
  });
});
