import { describe, expect, it } from 'vitest';
import type { TopRow, TopView } from '../../fleet/top.ts';
import { layoutTop, textTop } from './fleet-top.ts';
import { createStyle } from './style.ts';
import { widthOf } from './width.ts';

const plain = createStyle({ env: { NO_COLOR: '1' }, isTTY: false });
const none = { selected: null, message: '' };

describe('the table of a fleet', () => {
  it.each([
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
    { columns: 30, rows: 8 },
    { columns: 10, rows: 3 },
  ])('fills $columns x $rows exactly', (size) => {
    const view = viewOf(Array.from({ length: 40 }, (_, at) => row(`worker-with-a-long-name-${at}`)));
    const lines = layoutTop(view, none, size, plain);
    expect(lines).toHaveLength(size.rows);
    expect(lines.filter((line) => widthOf(line) > size.columns)).toEqual([]);
  });

  it('counts those that wait for you, and what runs', () => {
    const rows = [row('a', { needsYou: true, state: 'answer' }), row('b')];
    const view = { ...viewOf(rows), running: 2, maxParallel: 2, accountsAtLimit: ['claude'], undriven: true };
    expect(layoutTop(view, none, { columns: 120, rows: 24 }, plain)[0]).toBe(
      'swarm 2 workers · 1 waits for you · 2 of 2 running · at their limit: claude · no supervisor: swarm doctor --fix',
    );
  });

  it('scrolls with the selection, and shows its next command', () => {
    const rows = Array.from({ length: 40 }, (_, at) => row(`w${at}`, { next: `swarm attach w${at}` }));
    const lines = layoutTop(
      viewOf(rows),
      { selected: 'w39', message: 'said' },
      { columns: 80, rows: 24 },
      plain,
    );
    expect(lines.find((line) => line.startsWith('▶'))).toContain('w39');
    expect(lines.join('\n')).not.toContain('w20 ');
    expect(lines.at(-3)).toContain('swarm attach w39');
    expect(lines.at(-2)).toBe('said');
    expect(lines.at(-1)).toContain('a attach  l logs  p pause  r resume  k kill');
  });

  it('lets nothing drive the terminal', () => {
    const view = viewOf([row('a', { why: 'stopped by \x1b[2J\x1b]0;owned\x07 \n it' })]);
    const lines = layoutTop(view, none, { columns: 80, rows: 24 }, plain);
    expect(lines.join('')).not.toContain('\x1b');
    expect(lines).toHaveLength(24);
    expect(textTop(view)).not.toContain('\x1b');
  });

  it('is plain text without a terminal', () => {
    expect(textTop(viewOf([row('a', { iteration: '4/20', failures: 2 })]))).toBe(
      [
        'swarm 1 worker · 0 running',
        'NAME  WHY      ITERATION  FOR    FAILED',
        'a     working  4/20       3m     2',
        '',
      ].join('\n'),
    );
  });

  it('says how to begin where there is nothing yet', () => {
    expect(layoutTop(viewOf([]), none, { columns: 80, rows: 24 }, plain).join('\n')).toContain(
      'swarm spawn --help',
    );
  });
});

function row(name: string, part: Partial<TopRow> = {}): TopRow {
  const usual = { state: 'working', needsYou: false, isLoop: true, why: 'working', since: '3m' } as const;
  return { name, ...usual, iteration: '1/3', failures: 0, next: null, ...part };
}

function viewOf(rows: readonly TopRow[]): TopView {
  return { rows, running: 0, maxParallel: null, accountsAtLimit: [], undriven: false };
}
