import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aStory, aTaskList, legalStates } from '../../../test/core/review-examples.ts';
import { checkTasks } from './check.ts';
import { nextStep } from './mode.ts';
import { defaultReviewRules, type IterationMode, type Story, snapshotOf, type TaskList } from './story.ts';

const { waiting, rejected, approved } = legalStates;

/** Edits one story of the list. */
const set = (id: string, change: object) => (list: TaskList) => ({
  ...list,
  userStories: list.userStories.map((story) => (story.id === id ? { ...story, ...change } : story)),
});
const stories = (edit: (all: readonly Story[]) => unknown) => (list: TaskList) => ({
  ...list,
  userStories: edit(list.userStories),
});
const add = (...more: object[]) => stories((all) => [...all, ...more]);
const without = (id: string) => stories((all) => all.filter((story) => story.id !== id));
const all =
  (...edits: ((list: TaskList) => unknown)[]) =>
  (list: TaskList) =>
    edits.reduce<unknown>((edited, edit) => edit(edited as TaskList), list);

type Attempt = readonly [name: string, edit: (list: TaskList) => unknown];

const done = { passes: true, reviewStatus: 'approved', notes: 'all done' } as const;

/** On a list with DONE (approved), OPEN and NEXT (both not begun). */
const whileImplementing: readonly Attempt[] = [
  ['passes alone', set('OPEN', { passes: true, notes: 'x' })],
  ['passes and approved at once', set('OPEN', done)],
  ['passes, approved and a review that never was', set('OPEN', { ...done, reviewCount: 1 })],
  ['approved alone', set('OPEN', { reviewStatus: 'approved' })],
  ['passes with needs_review', set('OPEN', { passes: true, reviewStatus: 'needs_review', notes: 'x' })],
  ['reviewCount alone', set('OPEN', { reviewCount: 1 })],
  ['reviewCount with needs_review', set('OPEN', { reviewStatus: 'needs_review', reviewCount: 1 })],
  ['a rejection of its own work', set('OPEN', { reviewStatus: 'changes_requested', reviewFeedback: 'nit' })],
  [
    'two submissions',
    all(set('OPEN', { reviewStatus: 'needs_review' }), set('NEXT', { reviewStatus: 'needs_review' })),
  ],
  ['one submission and one approval', all(set('OPEN', { reviewStatus: 'needs_review' }), set('NEXT', done))],
  ['the deletion of an open story', without('NEXT')],
  ['the deletion of all open stories', all(without('NEXT'), without('OPEN'))],
  ['the deletion of an approved story', without('DONE')],
  ['the deletion of everything', stories(() => [])],
  ['a renamed story', set('NEXT', { id: 'LATER' })],
  ['a renamed story that is done', set('NEXT', { id: 'LATER', ...done })],
  ['an id in another case', set('NEXT', { id: 'next' })],
  ['an id with a blank after it', set('NEXT', { id: 'NEXT ' })],
  ['an id with a letter that does not print', set('NEXT', { id: 'NE\u200BXT' })],
  ['an id that only looks the same', set('NEXT', { id: 'N\u0415XT' })],
  [
    'a swap of two ids',
    all(set('DONE', { id: 'tmp' }), set('OPEN', { id: 'DONE' }), set('tmp', { id: 'OPEN' })),
  ],
  [
    'a merge of two stories',
    all(without('NEXT'), set('OPEN', { title: 'OPEN and NEXT', reviewStatus: 'needs_review' })),
  ],
  ['a new story that is done', add(aStory('NEW', { ...done }))],
  ['a new story that was reviewed', add(aStory('NEW', { ...done, reviewCount: 3 }))],
  ['a new story with a review count', add(aStory('NEW', { reviewCount: 1 }))],
  ['a new story that waits for review', add(aStory('NEW', { reviewStatus: 'needs_review' }))],
  ['a story replaced by its done twin', all(without('OPEN'), add(aStory('OPEN-2', { ...done })))],
  ['a second story with the same id', add(aStory('OPEN', { ...done }))],
  ['the same id twice, the done one first', stories((list) => [aStory('OPEN', { ...done }), ...list])],
  ['an approved story taken back', set('DONE', { passes: false, reviewStatus: null })],
  ['an approved story with a fresh count', set('DONE', { reviewCount: 0 })],
  ['passes as text', set('OPEN', { passes: 'true' })],
  ['passes as a number', set('OPEN', { passes: 1 })],
  ['passes as a list', set('OPEN', { passes: [true] })],
  ['no passes at all', set('OPEN', { passes: undefined })],
  ['approved in capitals', set('OPEN', { passes: true, reviewStatus: 'APPROVED', notes: 'x' })],
  ['approved with a blank', set('OPEN', { passes: true, reviewStatus: 'approved ', notes: 'x' })],
  ['a status of its own', set('OPEN', { reviewStatus: 'skipped' })],
  ['a status in a list', set('OPEN', { reviewStatus: ['approved'] })],
  ['a negative count', set('OPEN', { reviewCount: -1 })],
  ['half a review', set('OPEN', { reviewCount: 0.5 })],
  ['a count beyond all numbers', set('OPEN', { reviewCount: Number.POSITIVE_INFINITY })],
  ['a count as text', set('OPEN', { reviewCount: '0' })],
  ['no criteria left', set('OPEN', { acceptanceCriteria: [] })],
  ['criteria as text', set('OPEN', { acceptanceCriteria: 'none' })],
  ['stories as an object', stories((list) => ({ ...list }))],
  ['stories under another name', ({ userStories, ...rest }) => ({ ...rest, stories: userStories })],
  ['a list instead of a task list', ({ userStories }) => userStories],
  ['null instead of a task list', () => null],
  ['a text instead of a task list', () => 'all done'],
  ['a task list inside of a task list', (list) => ({ tasks: list })],
  ['a story that is null', stories((list) => [...list, null])],
];

/** On a list with OPEN (not begun), WAIT and ALSO (both wait for review, one review each) and DONE. */
const whileReviewing: readonly Attempt[] = [
  ['an approval without a count', set('WAIT', done)],
  ['an approval that counts two', set('WAIT', { ...done, reviewCount: 3 })],
  ['an approval that counts down', set('WAIT', { ...done, reviewCount: 0 })],
  ['a count without a verdict', set('WAIT', { reviewCount: 2 })],
  ['passes without approved', set('WAIT', { passes: true, reviewCount: 2, notes: 'x' })],
  ['approved without passes', set('WAIT', { reviewStatus: 'approved', reviewCount: 2 })],
  ['two approvals', all(set('WAIT', { ...done, reviewCount: 2 }), set('ALSO', { ...done, reviewCount: 2 }))],
  [
    'an approval and a rejection',
    all(set('WAIT', { ...done, reviewCount: 2 }), set('ALSO', { ...rejected, reviewCount: 2 })),
  ],
  ['an approval of a story that nobody wrote', set('OPEN', { ...done, reviewCount: 1 })],
  [
    'an approval with one that nobody wrote',
    all(set('WAIT', { ...done, reviewCount: 2 }), set('OPEN', { ...done, reviewCount: 1 })),
  ],
  [
    'an approval and a submission',
    all(set('WAIT', { ...done, reviewCount: 2 }), set('OPEN', { reviewStatus: 'needs_review' })),
  ],
  ['a rejection without feedback', set('WAIT', { ...rejected, reviewCount: 2, reviewFeedback: '' })],
  [
    'a rejection with blank feedback',
    set('WAIT', { ...rejected, reviewCount: 2, reviewFeedback: '\u200B\n' }),
  ],
  ['a rejection that passes', set('WAIT', { ...rejected, passes: true, reviewCount: 2, notes: 'x' })],
  ['a story sent back to the start', set('WAIT', { reviewStatus: null, reviewCount: 0 })],
  [
    'the cap before its time',
    set('WAIT', { ...done, reviewCount: 2, reviewFeedback: '[AUTO-APPROVED AT CAP] meh' }),
  ],
  ['the deletion of what waits', without('WAIT')],
  ['the deletion of the other that waits', all(set('WAIT', { ...done, reviewCount: 2 }), without('ALSO'))],
  ['an approval under a new name', all(without('WAIT'), add(aStory('WAIT-OK', { ...done, reviewCount: 2 })))],
  [
    'a new story that is done',
    all(set('WAIT', { ...done, reviewCount: 2 }), add(aStory('NEW', { ...done }))),
  ],
  ['a second review of what is approved', set('DONE', { reviewCount: 2 })],
  ['an approval without notes', set('WAIT', { ...done, notes: '', reviewCount: 2 })],
  ['no review at all', (list) => list],
];

/** On a list with OPEN, TODO and ALSO (both rejected once) and WAIT (waits for review). */
const whileFixing: readonly Attempt[] = [
  ['an approval', set('TODO', { ...done, reviewFeedback: '' })],
  ['an approval that counts', set('TODO', { ...done, reviewCount: 2, reviewFeedback: '' })],
  ['passes alone', set('TODO', { passes: true, notes: 'x' })],
  [
    'a submission that counts',
    set('TODO', { reviewStatus: 'needs_review', reviewFeedback: '', reviewCount: 2 }),
  ],
  [
    'a submission that counts down',
    set('TODO', { reviewStatus: 'needs_review', reviewFeedback: '', reviewCount: 0 }),
  ],
  [
    'a submission that passes',
    set('TODO', { reviewStatus: 'needs_review', reviewFeedback: '', passes: true, notes: 'x' }),
  ],
  ['a submission with the old feedback', set('TODO', { reviewStatus: 'needs_review' })],
  ['feedback that goes away', set('TODO', { reviewFeedback: '' })],
  ['the start of it all', set('TODO', { reviewStatus: null, reviewCount: 0, reviewFeedback: '' })],
  [
    'two submissions',
    all(set('TODO', { ...waiting, reviewFeedback: '' }), set('ALSO', { ...waiting, reviewFeedback: '' })),
  ],
  ['a review of what waits', set('WAIT', { ...done, reviewCount: 2 })],
  ['a submission of what is open', set('OPEN', { reviewStatus: 'needs_review' })],
  ['the deletion of what was rejected', without('TODO')],
  ['a twin without the history', all(without('TODO'), add(aStory('TODO-2')))],
];

const before: Readonly<Record<IterationMode, TaskList>> = {
  implement: aTaskList(aStory('DONE', approved), aStory('OPEN'), aStory('NEXT')),
  review: aTaskList(
    aStory('OPEN'),
    aStory('WAIT', waiting),
    aStory('ALSO', waiting),
    aStory('DONE', approved),
  ),
  'review-fix': aTaskList(
    aStory('OPEN'),
    aStory('TODO', rejected),
    aStory('ALSO', rejected),
    aStory('WAIT', waiting),
  ),
};
const attempts: Readonly<Record<IterationMode, readonly Attempt[]>> = {
  implement: whileImplementing,
  review: whileReviewing,
  'review-fix': whileFixing,
};

function check(mode: IterationMode, list: TaskList, edited: unknown) {
  const rules = { ...defaultReviewRules, iteration: { mode, snapshot: snapshotOf(list) } };
  // Through JSON, as a file would bring it.
  return checkTasks(JSON.parse(JSON.stringify(edited) ?? 'null'), rules);
}

describe.each(['implement', 'review', 'review-fix'] as const)('cheating in an %s iteration', (mode) => {
  it.each(attempts[mode])('is found: %s', (_name, edit) => {
    const list = before[mode];
    expect(nextStep(list, defaultReviewRules).mode).toBe(mode);
    expect(check(mode, list, edit(list)).problems).not.toEqual([]);
  });
});

describe('whatever is edited, in however many iterations', () => {
  const status = fc.constantFrom(null, 'needs_review', 'changes_requested', 'approved', 'approved ', 'x');
  const edit = fc.record({
    index: fc.nat(3),
    passes: fc.option(fc.boolean(), { nil: undefined }),
    reviewStatus: fc.option(status, { nil: undefined, freq: 3 }),
    count: fc.option(fc.integer({ min: -1, max: 2 }), { nil: undefined }),
    reviewFeedback: fc.option(fc.constantFrom('', 'Fix it.', '[AUTO-APPROVED AT CAP] x'), { nil: undefined }),
    id: fc.option(fc.constantFrom('A', 'B', 'NEW'), { nil: undefined, freq: 8 }),
    drop: fc.boolean(),
  });
  const state = fc.constantFrom(...Object.values(legalStates));
  const lists = fc
    .array(state, { minLength: 1, maxLength: 3 })
    .map((states) => aTaskList(...states.map((each, n) => aStory('ABC'.charAt(n), each))));

  it('no story passes without a review iteration that was about it', () => {
    fc.assert(
      fc.property(
        lists,
        fc.array(fc.tuple(fc.array(edit, { minLength: 1, maxLength: 3 }), fc.nat(4)), { maxLength: 12 }),
        (start, iterations) => {
          let list = start;
          for (const [edits, dropAt] of iterations) {
            const { mode } = nextStep(list, defaultReviewRules);
            const edited = applied(list, edits, dropAt);
            const { problems, tasks } = check(mode, list, edited);
            if (problems.length > 0 || tasks === null) continue; // It is undone.
            for (const story of list.userStories) {
              const now = tasks.userStories.find(({ id }) => id === story.id);
              expect(now).toBeDefined();
              if (now?.passes && !story.passes) {
                expect({ mode, from: story.reviewStatus, by: now.reviewCount - story.reviewCount }).toEqual({
                  mode: 'review',
                  from: 'needs_review',
                  by: 1,
                });
              }
            }
            const known = new Set(list.userStories.map(({ id }) => id));
            expect(tasks.userStories.some(({ id, passes }) => passes && !known.has(id))).toBe(false);
            list = tasks;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  type Edit = { index: number; count?: number | undefined; drop: boolean } & Record<string, unknown>;

  function applied(list: TaskList, edits: readonly Edit[], dropAt: number): unknown {
    const edited: Record<string, unknown>[] = list.userStories.map((story) => ({ ...story, notes: 'n' }));
    for (const { index, count, drop, ...fields } of edits) {
      const story = edited[index] ?? { ...aStory('NEW') };
      if (edited[index] === undefined) edited.push(story);
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) story[name] = value;
      if (count !== undefined) story.reviewCount = Number(story.reviewCount) + count;
      if (drop && dropAt < edited.length) edited.splice(dropAt, 1);
    }
    return { ...list, userStories: edited };
  }
});
