import type { IterationMode } from '../../../core/review/story.ts';
import type { StoryState } from '../../../journal/loop-schemas.ts';
import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { card, h, label, svg } from './dom.ts';
import { plural } from './format.ts';

/** The stories of a PRD: where each stands, how many are left after each iteration, and what bounced. */
export function tasksCard(view: RunView): HTMLElement | null {
  const { stories } = view;
  if (stories.length === 0) return null;
  const done = stories.filter(({ passes }) => passes).length;
  const count = `${done} of ${plural(stories.length, 'story').replace('storys', 'stories')} done`;
  return card(
    'Tasks',
    { looks: 'tasks', beside: h('span', { class: 'note', text: count }) },
    board(view),
    h('div', { class: 'two' }, burnDown(view), matrix(view)),
  );
}

const columns: readonly (readonly [name: string, className: string, fits: (story: StoryState) => boolean])[] =
  [
    [
      'To do',
      'todo',
      ({ passes, reviewStatus }) =>
        !passes && reviewStatus !== 'needs_review' && reviewStatus !== 'changes_requested',
    ],
    ['In review', 'review', ({ passes, reviewStatus }) => !passes && reviewStatus === 'needs_review'],
    ['Changes wanted', 'fix', ({ passes, reviewStatus }) => !passes && reviewStatus === 'changes_requested'],
    ['Done', 'done', ({ passes }) => passes],
  ];

function board({ stories, iterations, state }: RunView): HTMLElement {
  const current = state === 'going' ? iterations.at(-1)?.prd?.story : null;
  return h(
    'div',
    { class: 'board' },
    ...columns.map(([name, className, fits]) => {
      const own = stories.filter(fits);
      return h(
        'div',
        { class: `lane-column ${className}` },
        h('h3', {}, h('span', { text: name }), h('span', { class: 'count', text: String(own.length) })),
        ...own.map((story) => storyCard(story, story.id === current)),
      );
    }),
  );
}

function storyCard({ id, title, reviewCount, dependsOn }: StoryState, isCurrent: boolean): HTMLElement {
  return h(
    'article',
    { class: isCurrent ? 'story current' : 'story' },
    h('p', {}, h('code', { text: id }), ` ${title}`),
    h(
      'p',
      { class: 'note' },
      reviewCount > 0 && h('span', { text: plural(reviewCount, 'review') }),
      dependsOn.length > 0 && h('span', { text: `after ${dependsOn.join(', ')}` }),
      isCurrent && h('b', { text: 'at work' }),
    ),
  );
}

const width = 420;
const height = 130;

function burnDown({ iterations, stories }: RunView): HTMLElement {
  const worked = iterations.filter((one) => one.prd !== null);
  const left = worked
    .map(({ prd }) => (prd ? (prd.after ?? prd.before) : null))
    .map((counts) => (counts ? counts.total - counts.done : 0));
  const first = worked[0]?.prd?.before;
  const points = [first ? first.total - first.done : stories.length, ...left];
  const max = Math.max(1, ...points);
  const x = (index: number) => 28 + (index / Math.max(1, points.length - 1)) * (width - 40);
  const y = (value: number) => 12 + (1 - value / max) * (height - 36);
  const path = points
    .map((value, index) => (index === 0 ? `M${x(0)} ${y(value)}` : `H${x(index)}V${y(value)}`))
    .join('');
  const canvas = svg(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      class: 'burn',
      role: 'img',
      'aria-label': `Stories left: ${points.join(', ')}`,
    },
    svg('path', { d: `${path}V${y(0)}H${x(0)}z`, class: 'burn-area' }),
    svg('path', { d: path, class: 'burn-line' }),
    label(0, y(max) + 4, String(max), 'tick first'),
    label(0, y(0) + 4, '0', 'tick first'),
    label(28, height - 4, 'start', 'tick first'),
    label(width - 12, height - 4, `iteration ${worked.at(-1)?.iteration ?? 0}`, 'tick last'),
  );
  return h('figure', {}, h('figcaption', { text: 'Stories left' }), canvas);
}

const letters: Readonly<Record<IterationMode, string>> = { implement: 'I', review: 'R', 'review-fix': 'F' };
const modeNames: Readonly<Record<IterationMode, string>> = {
  implement: 'implemented',
  review: 'reviewed',
  'review-fix': 'fixed',
};

/** Rows are stories, columns what was done with each, in order. */
function matrix({ stories, iterations }: RunView): HTMLElement {
  return h(
    'figure',
    { class: 'matrix' },
    h('figcaption', { text: 'Work on each story: I implement, R review, F fix' }),
    h(
      'table',
      {},
      h(
        'tbody',
        {},
        ...stories.map(({ id }) => {
          const worked = iterations.filter(({ prd }) => prd?.story === id);
          return h(
            'tr',
            {},
            h('th', { text: id, attrs: { scope: 'row' } }),
            h('td', {}, ...worked.map(step)),
          );
        }),
      ),
    ),
  );
}

function step({ iteration, prd }: IterationView): HTMLElement | null {
  if (prd === null) return null;
  const bounced = prd.mode === 'review' && prd.reviewStatus === 'changes_requested';
  const approved = prd.mode === 'review' && prd.reviewStatus === 'approved';
  const result = bounced ? ', changes wanted' : approved ? ', approved' : '';
  return h('span', {
    class: `step ${prd.mode} ${bounced ? 'bounced' : approved ? 'approved' : ''}`,
    text: letters[prd.mode],
    title: `iteration ${iteration}: ${modeNames[prd.mode]}${result}`,
  });
}
