import { describe, expect, it } from 'vitest';
import { RunView } from '../../journal/run-view.ts';
import { figuresCsv, runFigures } from './figures.ts';

function lineOf(task: string): string {
  const view = Object.assign(new RunView('r1'), { task, agent: 'claude', cwd: '/home/dev/shop' });
  return figuresCsv([runFigures('r1', view, 0)]).split('\r\n')[1] ?? '';
}

describe('figuresCsv', () => {
  it('quotes what CSV would split, and disarms what a spreadsheet would run', () => {
    expect(lineOf('plain')).toMatch(/^r1,plain,shop,,claude,,,,0,/);
    expect(lineOf('a, "b"')).toMatch(/^r1,"a, ""b""",/);
    for (const start of ['=1+1', '+1', '-1', '@x']) expect(lineOf(start)).toContain(`,'${start},`);
  });
});
