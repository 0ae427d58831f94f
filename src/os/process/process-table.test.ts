import { describe, expect, it } from 'vitest';
import { readListing, readStat } from './process-list.ts';
import { findInRows, runMarks } from './process-table.ts';

describe('runMarks', () => {
  it('names the run and the iteration', () => {
    const { variables, tree } = runMarks({}, 'r1', 3);
    expect(variables).toEqual({ RALPH_RUN_ID: 'r1', RALPH_ITERATION: '3', RALPH_TREE: tree });
  });

  it('takes away the iteration of another run', () => {
    expect(runMarks({ RALPH_ITERATION: '7' }, 'r1').variables.RALPH_ITERATION).toBeUndefined();
  });

  it('tells two starts of the same iteration apart', () => {
    expect(runMarks({}, 'r1', 3).tree).not.toBe(runMarks({}, 'r1', 3).tree);
  });

  it('keeps the starts around it, so that each of them can still find what belongs to it', () => {
    const outer = runMarks({ RALPH_RUN_ID: 'tmux' }, 'outer', 2);
    const inner = runMarks(outer.variables, 'inner');
    expect(inner.variables.RALPH_TREE).toBe(`tmux@#,${outer.tree},${inner.tree}`);
  });
});

describe('findInRows', () => {
  const listing = [
    '    1     0     1 Ss   Sun Nov 15 21:19:00 2026 /sbin/launchd',
    `  100     1   100 S    Sun Nov 15 21:19:00 2026 shell RALPH_RUN_ID=r1`,
    `${process.pid}   100   100 S    Sun Nov 15 21:19:00 2026 ralph RALPH_RUN_ID=r1`,
    '  300     1   300 S    Sun Nov 15 21:19:00 2026 agent -p x PATH=/bin RALPH_RUN_ID=r1 RALPH_ITERATION=1 HOME=/x',
    '  301   300   300 Z    Sun Nov 15 21:19:00 2026 (agent)',
    '  302   300   300 S    Sun Nov 15 21:19:00 2026 child of the group, its environment unknown',
    '  400     1   400 Ss   Sun Nov 15 21:19:00 2026 daemon RALPH_ITERATION=2 RALPH_RUN_ID=r1',
    '  500     1   500 Ss   Sun Nov 15 21:19:00 2026 inner RALPH_RUN_ID=r2 RALPH_ITERATION=9 RALPH_TREE=r0@4#x,r1@2#y,r2@9#z',
    '  600     1   600 Ss   Sun Nov 15 21:19:00 2026 other RALPH_RUN_ID=r10 RALPH_ITERATION=1',
    'a line of a variable with a line break RALPH_RUN_ID=r1',
  ].join('\n');
  const rows = readListing(listing);

  it('finds what carries the run, but no zombie, not us and no ancestor of ours', () => {
    expect(findInRows(rows, { mark: { runId: 'r1' } })).toEqual([300, 400, 500]);
  });

  it('finds only the iteration where one is given, and the runs inside it', () => {
    expect(findInRows(rows, { mark: { runId: 'r1', iteration: 2 } })).toEqual([400, 500]);
  });

  it('finds what one start brought about', () => {
    expect(findInRows(rows, { mark: { tree: 'r1@2#y' } })).toEqual([500]);
  });

  it('finds the living members of a group', () => {
    expect(findInRows(rows, { mark: { runId: 'none' }, group: 300 })).toEqual([300, 302]);
  });
});

describe.runIf(process.platform === 'linux')('readStat', () => {
  it('reads a process whose name holds blanks and parentheses', () => {
    const title = process.title;
    process.title = 'a) R 1 (b';
    try {
      expect(readStat(process.pid)?.ppid).toBe(process.ppid);
    } finally {
      process.title = title;
    }
  });

  it('has nothing of a process that does not exist', () => {
    expect(readStat(2 ** 30)).toBeNull();
  });
});
