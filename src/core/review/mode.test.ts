import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aStory, aTaskList, legalStates } from '../../../test/core/review-examples.ts';
import { dependencyProblems } from './dependencies.ts';
import { countTasks, estimateIterations, isComplete, nextStep } from './mode.ts';

const { open, waiting, rejected, approved } = legalStates;
const review = { skipReview: false };

describe('the mode of an iteration', () => {
  it('is review-fix before review before implement', () => {
    const all = [aStory('A', open), aStory('B', waiting), aStory('C', rejected)];
    const step = (...stories: typeof all) => {
      const { mode, story } = nextStep(aTaskList(...stories), review);
      return [mode, story?.id];
    };
    expect(step(...all)).toEqual(['review-fix', 'C']);
    expect(step(...all.slice(0, 2))).toEqual(['review', 'B']);
    expect(step(...all.slice(0, 1))).toEqual(['implement', 'A']);
    expect(step(aStory('D', approved))).toEqual(['implement', undefined]);
  });

  it('is always implement where reviews are skipped', () => {
    const { mode, story } = nextStep(aTaskList(aStory('A', rejected)), { skipReview: true });
    expect([mode, story?.id]).toEqual(['implement', 'A']);
  });
});

describe('the next story', () => {
  const next = (...stories: Parameters<typeof aTaskList>) =>
    nextStep(aTaskList(...stories), review).story?.id;

  it('has the smallest number for its priority, then comes first in the file', () => {
    expect(next(aStory('A', { priority: 2 }), aStory('B'), aStory('C'))).toBe('B');
  });

  it('waits for those it depends on', () => {
    const first = aStory('A', { dependsOn: ['B'] });
    expect(next(first, aStory('B', { priority: 9 }))).toBe('B');
    expect(next(first, aStory('B', { ...approved, priority: 9 }))).toBe('A');
  });

  it('is found even where dependencies go in a circle, or nowhere', () => {
    expect(next(aStory('A', { dependsOn: ['B'] }), aStory('B', { dependsOn: ['A'] }))).toBe('A');
    expect(next(aStory('A', { dependsOn: ['gone'] }))).toBe('A');
  });

  it('is the same for the same list, and one that is open', () => {
    const story = fc.record({
      priority: fc.integer({ min: 1, max: 3 }),
      dependsOn: fc.subarray(['0', '1', '2']),
      done: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(story, { maxLength: 4 }), (given) => {
        const list = aTaskList(
          ...given.map(({ done, ...rest }, id) => aStory(String(id), { ...(done ? approved : {}), ...rest })),
        );
        const { story: found } = nextStep(list, review);
        expect(nextStep(list, review).story).toBe(found);
        expect(found === null).toBe(given.every(({ done }) => done));
        expect(found?.passes ?? false).toBe(false);
      }),
    );
  });
});

describe('a task list', () => {
  it('is complete when every story passes and is approved', () => {
    expect(isComplete(aTaskList(aStory('A', approved)), review)).toBe(true);
    expect(isComplete(aTaskList(aStory('A', { passes: true })), review)).toBe(false);
    expect(isComplete(aTaskList(aStory('A', { passes: true })), { skipReview: true })).toBe(true);
    expect(isComplete(aTaskList(aStory('A', approved), aStory('B')), review)).toBe(false);
    expect(isComplete(aTaskList(), review)).toBe(false);
  });

  it('is counted', () => {
    const list = aTaskList(
      ...Object.entries(legalStates).map(([id, state]) => aStory(id, state)),
      aStory('E'),
    );
    expect(countTasks(list)).toEqual({ total: 5, done: 1, needsReview: 1, changesRequested: 1, open: 2 });
    expect(estimateIterations(list, review)).toBe(9);
    expect(estimateIterations(list, { skipReview: true })).toBe(4);
  });

  it('has its unknown and circular dependencies told', () => {
    const list = aTaskList(
      aStory('A', { dependsOn: ['B', 'X'] }),
      aStory('B', { dependsOn: ['C'] }),
      aStory('C', { dependsOn: ['B'] }),
      aStory('D', { dependsOn: ['D'] }),
    );
    expect(dependencyProblems(list).map(({ text }) => text)).toEqual([
      'Story A depends on X, but there is no such story.',
      'Stories depend on each other in a circle: B → C → B.',
      'Stories depend on each other in a circle: D → D.',
    ]);
  });

  it('may have a long chain of dependencies', () => {
    const chain = Array.from({ length: 3000 }, (_, n) => aStory(String(n), { dependsOn: [String(n + 1)] }));
    expect(dependencyProblems(aTaskList(...chain)).map(({ rule }) => rule)).toEqual(['unknown dependency']);
  });
});
