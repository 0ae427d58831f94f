import { describe, expect, it } from 'vitest';
import { aStory, aTaskList, legalStates } from '../../../test/core/review-examples.ts';
import { checkTasks } from './check.ts';
import { defaultReviewRules, type Story } from './story.ts';

function said(change: Partial<Story>, rules = {}): string[] {
  const { problems } = checkTasks(aTaskList(aStory('US-001', change)), {
    ...defaultReviewRules,
    ...rules,
    iteration: null,
  });
  return problems.map(({ rule, text }) => `${rule}: ${text}`);
}

describe('review integrity', () => {
  it.each([null, 'needs_review', 'changes_requested'] as const)(
    'a story that passes with reviewStatus %s is not approved',
    (reviewStatus) => {
      expect(said({ passes: true, reviewStatus, reviewFeedback: 'x' })).toEqual([
        `not approved: Story US-001 has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
      ]);
    },
  );

  it('a story that passes and is approved is fine', () => {
    expect(said(legalStates.approved)).toEqual([]);
  });

  it('changes_requested wants feedback', () => {
    for (const reviewFeedback of ['', '  \n']) {
      expect(said({ reviewStatus: 'changes_requested', reviewFeedback })).toEqual([
        expect.stringContaining('feedback required'),
      ]);
    }
  });

  it('approved without passes is out of sync', () => {
    expect(said({ reviewStatus: 'approved' })).toEqual([expect.stringContaining('out of sync')]);
  });

  it('a negative reviewCount is invalid', () => {
    expect(said({ reviewCount: -1 })).toEqual([
      expect.stringContaining("'reviewCount' has to be a non-negative integer"),
    ]);
  });

  it('reviewCount may exceed the cap by one and no more', () => {
    expect(said({ ...legalStates.approved, reviewCount: 6 })).toEqual([]);
    expect(said({ ...legalStates.approved, reviewCount: 7 })).toEqual([
      expect.stringContaining('the review cap is 5'),
    ]);
  });

  it('nothing of this is looked at where reviews are skipped', () => {
    expect(said({ passes: true, reviewStatus: null }, { skipReview: true })).toEqual([]);
  });
});
