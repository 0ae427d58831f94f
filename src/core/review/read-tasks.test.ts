import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aStory, aTaskList } from '../../../test/core/review-examples.ts';
import { checkTasks } from './check.ts';
import { isComplete, nextStep } from './mode.ts';
import { readTasks } from './read-tasks.ts';
import { defaultReviewRules } from './story.ts';

const good = aTaskList(aStory('US-001'), aStory('US-002'));

function problems(value: unknown): string[] {
  const read = readTasks(value);
  return read.ok ? [] : read.problems.map(({ text }) => text);
}

function without(value: object, field: string): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
}

describe('reading a task list', () => {
  it('takes the fields that it knows and leaves others alone', () => {
    const story = { ...aStory('US-001'), description: 'd', estimate: 3 };
    const read = readTasks({ ...good, owner: 'me', userStories: [story] });
    expect(read).toMatchObject({ ok: true, tasks: { project: 'demo', userStories: [{ id: 'US-001' }] } });
  });

  it.each(['project', 'branchName', 'description', 'userStories'])('misses %s', (field) => {
    expect(problems(without(good, field))).toEqual([`the required field '${field}' is missing`]);
  });

  it.each([
    'id',
    'title',
    'passes',
    'priority',
    'acceptanceCriteria',
    'reviewStatus',
    'reviewCount',
    'reviewFeedback',
  ])('misses %s of a story', (field) => {
    const list = { ...good, userStories: [without(aStory('US-001'), field)] };
    expect(problems(list).join()).toContain(`the required field '${field}' is missing`);
  });

  it.each([
    ['passes', 'yes'],
    ['passes', 1],
    ['passes', null],
    ['priority', '1'],
    ['priority', Number.POSITIVE_INFINITY],
    ['acceptanceCriteria', []],
    ['acceptanceCriteria', ['', ' ', null, 7, {}]],
    ['acceptanceCriteria', 'works'],
    ['reviewStatus', 'Approved'],
    ['reviewStatus', false],
    ['reviewStatus', ''],
    ['reviewCount', 1.5],
    ['reviewCount', '1'],
    ['reviewCount', true],
    ['reviewFeedback', null],
    ['id', 7],
    ['id', ' '],
    ['dependsOn', 'US-001'],
    ['dependsOn', [1]],
    ['notes', {}],
  ])('says which field is malformed: %s %j', (field, value) => {
    const said = problems({ ...good, userStories: [{ ...aStory('US-001'), [field]: value }] });
    expect(said.join()).toContain(`'${field}' has to be`);
  });

  it('wants unique ids', () => {
    expect(problems(aTaskList(aStory('A'), aStory('B'), aStory('A')))).toEqual([
      'Story A: duplicate id, ids have to be unique',
    ]);
  });

  it('wants notes for what passes', () => {
    for (const notes of ['', '\n', undefined]) {
      const story = { ...aStory('A', { passes: true, reviewStatus: 'approved' }), notes };
      expect(problems({ ...good, userStories: [story] })).toEqual([
        'Story A: passes is true, but notes is empty: say there what was done',
      ]);
    }
  });

  it('tells everything that is wrong at once', () => {
    expect(problems({ userStories: [null, {}] }).length).toBeGreaterThan(10);
  });

  it('says something clear about any JSON at all, and never throws', () => {
    const deep = fc.constantFrom(50, 101, 20_000).map((levels) => nested(levels));
    const any = fc.oneof({ weight: 9, arbitrary: fc.jsonValue() }, { weight: 1, arbitrary: deep });
    const story = fc.record(Object.fromEntries(Object.keys(aStory('A')).map((field) => [field, any])), {
      requiredKeys: [],
    });
    const list = fc.record(
      {
        project: any,
        userStories: fc.oneof(fc.array(fc.oneof(story, any)), any),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(any, list), (value) => {
        const read = readTasks(value);
        if (!read.ok) {
          expect(read.problems.length).toBeGreaterThan(0);
          for (const { text } of read.problems) expect(text).not.toBe('');
        }
        const iteration = {
          mode: 'review',
          snapshot: { A: { passes: false, reviewStatus: null, reviewCount: 0 } },
        } as const;
        const { tasks } = checkTasks(value, { ...defaultReviewRules, iteration });
        if (tasks)
          expect([isComplete(tasks, defaultReviewRules), nextStep(tasks, defaultReviewRules)]).toHaveLength(
            2,
          );
      }),
    );
  });
});

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}
