import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitMessage, type IterationCommit, posesAsLoopCommit, readIterationCommit } from './trailers.ts';

const end = fc.record(
  {
    how: fc.constantFrom('exited', 'inactive', 'done', 'lost', 'wrapped-up'),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
    doneMatched: fc.boolean(),
    spent: fc.record({ tokens: fc.nat(), costUsd: fc.nat() }),
    decision: fc.record({
      kind: fc.constant('stop'),
      outcome: fc.constantFrom('BLOCKED', 'STUCK'),
      because: fc.record({ code: fc.constant('blocked'), text: fc.string({ unit: 'binary' }) }),
      iterations: fc.nat(),
      failures: fc.nat(),
      maxFailures: fc.nat(),
    }),
  },
  { requiredKeys: ['how', 'exitCode', 'doneMatched'] },
);

describe('the commit of an iteration', () => {
  it('tells whoever reads it how the iteration ended, whatever text is in that', () => {
    const commits = fc.record({
      loop: fc.stringMatching(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,20}$/u),
      id: fc.stringMatching(/^\d{1,15}$/),
      iteration: fc.integer({ min: 1, max: 999_999 }),
      end,
    });
    fc.assert(
      fc.property(commits, (commit) => {
        expect(readIterationCommit(commitMessage(commit as IterationCommit))).toEqual(
          JSON.parse(JSON.stringify(commit)),
        );
      }),
    );
  });

  it('is not found in a message that only has the words in its text', () => {
    expect(
      readIterationCommit('Explain the trailers\n\nRalph-Loop: a\nRalph-Iteration: 1\n\nSigned-off-by: me'),
    ).toBeNull();
    expect(readIterationCommit('Ralph-Loop: a')).toBeNull();
    expect(readIterationCommit('x\n\nRalph-Loop: a\nRalph-Run: 1\nRalph-Iteration: 0')).toBeNull();
  });

  it('counts as a good end without a claim where somebody edited the end', () => {
    const message = 'x\n\nRalph-Loop: a\nRalph-Run: 1\nRalph-Iteration: 2\nRalph-End: ';
    const good = { how: 'exited', exitCode: 0, doneMatched: false };
    for (const text of ['', '{', '{"how":"flew"}', '{"how":"done","exitCode":0,"doneMatched":1}', '[]']) {
      expect(readIterationCommit(message + text)).toMatchObject({ iteration: 2, end: good });
    }
  });

  it('is told from one of the agent that copies its style', () => {
    const job = { name: 'a', id: '17' };
    expect(posesAsLoopCommit('Fix it\n\nRalph-Loop: a\nRalph-Iteration: 4', job)).toBe(true);
    expect(posesAsLoopCommit('Fix it\n\nRalph-Run: 17', job)).toBe(true);
    expect(posesAsLoopCommit('Merge b\n\nRalph-Loop: b\nRalph-Run: 18', job)).toBe(false);
  });
});
