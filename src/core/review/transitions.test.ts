import { describe, expect, it } from 'vitest';
import { aStory, aTaskList, legalStates } from '../../../test/core/review-examples.ts';
import { checkTasks } from './check.ts';
import { defaultReviewRules, type IterationMode, type Story, snapshotOf } from './story.ts';

const { open, waiting, rejected, approved } = legalStates;

/** What is said after an iteration turned the stories before into those after. */
function told(mode: IterationMode, before: Story[], now: Story[], reviewCap = 5): string[] {
  const iteration = { mode, snapshot: snapshotOf(aTaskList(...before)) };
  const { problems } = checkTasks(aTaskList(...now), { ...defaultReviewRules, reviewCap, iteration });
  return problems.map(({ rule, text }) => `${rule}: ${text}`);
}

const one = (change: Partial<Story>): Story[] => [aStory('US-001', change)];

describe('an implement iteration', () => {
  it('cannot set passes=true', () => {
    const said = told('implement', one(open), one({ passes: true }));
    expect(said.join('\n')).toContain('implement iterations cannot set passes=true');
    expect(said.join('\n')).toContain(
      'Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story US-001 had illegal transition: passes false → true.',
    );
  });

  it('cannot approve', () => {
    const said = told('implement', one(open), one({ passes: true, reviewStatus: 'approved' }));
    expect(said.join('\n')).toContain('implement iterations cannot approve');
    expect(said.join('\n')).toContain('reviewStatus null → "approved"');
  });

  it('cannot increment reviewCount', () => {
    const said = told('implement', one(open), one({ reviewCount: 1 }));
    expect(said).toEqual([expect.stringContaining('implement iterations cannot increment reviewCount')]);
    expect(said[0]).toContain('reviewCount 0 → 1');
  });

  it('may submit one story for review', () => {
    expect(told('implement', one(open), one({ reviewStatus: 'needs_review' }))).toEqual([]);
  });

  it('may submit only one story', () => {
    const before = [aStory('A'), aStory('B')];
    const now = [
      aStory('A', { reviewStatus: 'needs_review' }),
      aStory('B', { reviewStatus: 'needs_review' }),
    ];
    expect(told('implement', before, now)).toEqual([expect.stringContaining('one story per iteration')]);
  });

  it('may change nothing, and everything that is not about reviews', () => {
    expect(
      told('implement', one(open), one({ title: 'New', notes: 'n', priority: 7, dependsOn: ['x'] })),
    ).toEqual([]);
  });

  it('may add a story that starts incomplete, and no other', () => {
    const before = one(open);
    expect(told('implement', before, [...before, aStory('US-002')])).toEqual([]);
    const said = told('implement', before, [...before, aStory('US-002', { ...approved, reviewCount: 0 })]);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain('new stories must start incomplete');
    expect(said[0]).toContain('Story US-002 had illegal transition: passes false (new story) → true.');
  });

  it('cannot remove or rename a story', () => {
    const before = [aStory('A', approved), aStory('B')];
    const renamed = [aStory('A', approved), aStory('C')];
    for (const now of [renamed, [aStory('A', approved)], []]) {
      expect(told('implement', before, now).join('\n')).toContain(
        'Story B was there before this iteration (implement) and is gone.',
      );
    }
  });
});

describe('a review iteration', () => {
  it('may approve a story', () => {
    expect(told('review', one(waiting), one({ ...approved, reviewCount: 2 }))).toEqual([]);
  });

  it('may request changes', () => {
    expect(told('review', one(waiting), one({ ...rejected, reviewCount: 2 }))).toEqual([]);
  });

  it('must increment reviewCount by exactly one', () => {
    for (const reviewCount of [0, 1, 3]) {
      const said = told('review', one(waiting), one({ ...approved, reviewCount }));
      expect(said).toEqual([expect.stringContaining('review must increment reviewCount')]);
      expect(said[0]).toContain(
        `Review iteration made illegal transition on story US-001: reviewCount 1 → ${reviewCount}`,
      );
    }
  });

  it('must judge something', () => {
    expect(told('review', one(waiting), one(waiting))).toEqual([
      expect.stringContaining('review must increment reviewCount'),
    ]);
  });

  it('may only modify one story', () => {
    const before = [aStory('A', waiting), aStory('B', waiting)];
    const now = [aStory('A', { ...approved, reviewCount: 2 }), aStory('B', { ...approved, reviewCount: 2 })];
    const said = told('review', before, now);
    expect(said.length).toBeGreaterThan(0);
    expect(said.every((line) => line.includes('review may only modify one story'))).toBe(true);
    expect(said.every((line) => line.includes('on story B:'))).toBe(true);
  });

  it('cannot approve a story that nobody has submitted', () => {
    const before = [aStory('A', waiting), aStory('B')];
    const now = [aStory('A', waiting), aStory('B', { ...approved, reviewCount: 1 })];
    expect(told('review', before, now).join('\n')).toContain(
      'only a story that needs review may be reviewed',
    );
  });

  it('cannot request changes without saying which', () => {
    const said = told(
      'review',
      one(waiting),
      one({ ...rejected, reviewCount: 2, reviewFeedback: ' \u200B ' }),
    );
    expect(said.join('\n')).toContain('feedback required');
  });

  it('cannot request changes once the cap is reached', () => {
    const said = told('review', one(waiting), one({ ...rejected, reviewCount: 2 }), 2);
    expect(said.join('\n')).toContain('[AUTO-APPROVED AT CAP]');
    const given = { ...approved, reviewCount: 2, reviewFeedback: '[AUTO-APPROVED AT CAP] slow' };
    expect(told('review', one(waiting), one(given), 2)).toEqual([]);
  });

  it('cannot claim the cap before it is reached', () => {
    const given = { ...approved, reviewCount: 2, reviewFeedback: '[AUTO-APPROVED AT CAP] slow' };
    expect(told('review', one(waiting), one(given)).join('\n')).toContain('review cap not reached');
    const hidden = { ...given, reviewFeedback: 'slow, so [Auto-approved at cap]' };
    expect(told('review', one(waiting), one(hidden)).join('\n')).toContain('review cap not reached');
  });

  it('says at the cap that it was the cap, where there is something left to say', () => {
    const given = { ...approved, reviewCount: 2, reviewFeedback: 'slow' };
    expect(told('review', one(waiting), one(given), 2).join('\n')).toContain('review cap reached');
    expect(told('review', one(waiting), one({ ...given, reviewFeedback: '' }), 2)).toEqual([]);
    const buried = { ...given, reviewFeedback: 'slow. [AUTO-APPROVED AT CAP]' };
    expect(told('review', one(waiting), one(buried), 2).join('\n')).toContain('review cap reached');
  });

  it.each(['\u2800', '\u3164\uFFA0', '\u115F', '\u200E\u00AD', '\u{E0041}'])(
    'cannot request changes with signs that nobody sees: %j',
    (reviewFeedback) => {
      const given = { ...rejected, reviewCount: 2, reviewFeedback };
      expect(told('review', one(waiting), one(given)).join('\n')).toContain('feedback required');
    },
  );

  it('auto-approves on the first review with a cap of 1', () => {
    const fresh = { ...waiting, reviewCount: 0 };
    const given = { ...approved, reviewFeedback: '[AUTO-APPROVED AT CAP] no test for the error path' };
    expect(told('review', one(fresh), one(given), 1)).toEqual([]);
    expect(told('review', one(fresh), one(rejected), 1)).toHaveLength(1);
  });

  it('may add follow-up stories', () => {
    const now = [aStory('US-001', { ...approved, reviewCount: 2 }), aStory('US-002')];
    expect(told('review', one(waiting), now)).toEqual([]);
  });
});

describe('a review-fix iteration', () => {
  const resubmitted = { ...waiting, reviewFeedback: '' };

  it('may send the story back to review', () => {
    expect(told('review-fix', one(rejected), one(resubmitted))).toEqual([]);
  });

  it('cannot approve', () => {
    const said = told('review-fix', one(rejected), one(approved)).join('\n');
    expect(said).toContain('review-fix cannot approve');
    expect(said).toContain(
      'Review-fix iterations cannot approve stories. Story US-001 must go back to needs_review for re-review. Illegal transition: passes false → true.',
    );
  });

  it('cannot increment reviewCount', () => {
    const said = told('review-fix', one(rejected), one({ ...resubmitted, reviewCount: 2 })).join('\n');
    expect(said).toContain('review-fix cannot increment reviewCount');
  });

  it('has to clear the feedback', () => {
    const said = told('review-fix', one(rejected), one({ ...resubmitted, reviewFeedback: 'old' }));
    expect(said).toEqual([expect.stringContaining('review-fix must clear reviewFeedback')]);
  });

  it('may only modify one story', () => {
    const before = [aStory('A', rejected), aStory('B', rejected)];
    const now = [aStory('A', resubmitted), aStory('B', resubmitted)];
    expect(told('review-fix', before, now)).toEqual([
      expect.stringContaining('review-fix may only modify one story'),
    ]);
  });

  it('cannot submit a story that was not rejected', () => {
    const before = [aStory('A', rejected), aStory('B')];
    const now = [aStory('A', rejected), aStory('B', { reviewStatus: 'needs_review' })];
    expect(told('review-fix', before, now).join('\n')).toContain('may only send a story back');
  });

  it('may leave the story for the next iteration', () => {
    expect(told('review-fix', one(rejected), one(rejected))).toEqual([]);
  });
});

describe('without a snapshot', () => {
  it('the invariants still hold', () => {
    const { problems } = checkTasks(aTaskList(aStory('A', { passes: true })), {
      ...defaultReviewRules,
      iteration: null,
    });
    expect(problems.map(({ rule }) => rule)).toEqual(['not approved']);
  });
});
