import type { IterationMode } from '../../../core/review/story.ts';
import { plural } from '../../../core/text.ts';
import type { StoryState } from '../../../journal/loop-schemas.ts';
import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import { Dependencies } from './dependencies.tsx';
import { duration } from './format.ts';
import { Card, Table } from './parts.tsx';
import { estimateLeft, figuresByStory, type StoryFigures } from './story-figures.ts';

/** The stories of a PRD: where each stands, what it took, how many are left, and what waits for what. */
export function Tasks({ view, at }: { readonly view: RunView; readonly at: number }) {
  const { stories } = view;
  if (stories.length === 0) return null;
  const done = stories.filter(({ passes }) => passes).length;
  const figures = figuresByStory(view, at);
  const left = estimateLeft(view, figures);
  const count = `${done} of ${plural(stories.length, 'story', 'stories')} done`;
  return (
    <Card title="Tasks" looks="tasks" beside={<span class="note">{count}</span>}>
      {left !== null && (
        <p class="estimate">
          About <b>{duration(left.ms)}</b>
          {left.costUsd !== null && (
            <>
              {' and '}
              <b>{formatCost(left.costUsd)}</b>
            </>
          )}
          {` left, by what ${plural(left.by, 'story', 'stories')} took.`}
        </p>
      )}
      <Board {...view} />
      <div class="two">
        <BurnDown {...view} />
        <Dependencies stories={stories} />
      </div>
      <StoryTable view={view} figures={figures} />
    </Card>
  );
}

const columns = [
  ['To do', 'todo'],
  ['In review', 'review'],
  ['Changes wanted', 'fix'],
  ['Done', 'done'],
] as const;

function columnOf({ passes, reviewStatus }: StoryState): (typeof columns)[number][1] {
  if (passes) return 'done';
  if (reviewStatus === 'needs_review') return 'review';
  return reviewStatus === 'changes_requested' ? 'fix' : 'todo';
}

function Board({ stories, iterations, state }: RunView) {
  const current = state === 'going' ? iterations.at(-1)?.prd?.story : null;
  return (
    <div class="board">
      {columns.map(([name, column]) => {
        const own = stories.filter((story) => columnOf(story) === column);
        return (
          <div class={`lane-column ${column}`}>
            <h3>
              <span>{name}</span>
              <span class="count">{own.length}</span>
            </h3>
            {own.map((story) => (
              <Story key={story.id} {...story} isCurrent={story.id === current} />
            ))}
          </div>
        );
      })}
    </div>
  );
}

function Story({ id, title, reviewCount, dependsOn, isCurrent }: StoryState & { isCurrent: boolean }) {
  return (
    <article class={isCurrent ? 'story current' : 'story'}>
      <p>
        <code>{id}</code> {title}
      </p>
      <p class="note">
        {reviewCount > 0 && <span>{plural(reviewCount, 'review')}</span>}
        {dependsOn.length > 0 && <span>after {dependsOn.join(', ')}</span>}
        {isCurrent && <b>at work</b>}
      </p>
    </article>
  );
}

const width = 420;
const height = 130;

function BurnDown({ iterations, stories }: RunView) {
  const worked = iterations.flatMap(({ iteration, prd }) => (prd ? [{ iteration, ...prd }] : []));
  const first = worked[0]?.before ?? { total: stories.length, done: 0 };
  const counts = [first, ...worked.map(({ before, after }) => after ?? before)];
  const points = counts.map(({ total, done }) => total - done);
  const max = Math.max(1, ...points);
  const x = (index: number) => 28 + (index / Math.max(1, points.length - 1)) * (width - 40);
  const y = (value: number) => 12 + (1 - value / max) * (height - 36);
  const steps = points.slice(1).map((value, index) => `H${x(index + 1)}V${y(value)}`);
  const line = `M${x(0)} ${y(points[0] ?? 0)}${steps.join('')}`;
  return (
    <figure>
      <figcaption>Stories left</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        class="burn"
        role="img"
        aria-label={`Stories left: ${points.join(', ')}`}
      >
        <path d={`${line}V${y(0)}H${x(0)}z`} class="burn-area" />
        <path d={line} class="burn-line" />
        <text x={0} y={y(max) + 4} class="tick first">
          {max}
        </text>
        <text x={0} y={y(0) + 4} class="tick first">
          0
        </text>
        <text x={28} y={height - 4} class="tick first">
          start
        </text>
        <text x={width - 12} y={height - 4} class="tick last">
          {`iteration ${worked.at(-1)?.iteration ?? 0}`}
        </text>
      </svg>
    </figure>
  );
}

const modes: Readonly<Record<IterationMode, readonly [letter: string, name: string]>> = {
  implement: ['I', 'implemented'],
  review: ['R', 'reviewed'],
  'review-fix': ['F', 'fixed'],
};

type TableProps = { readonly view: RunView; readonly figures: ReadonlyMap<string, StoryFigures> };

function StoryTable({ view: { stories, iterations }, figures }: TableProps) {
  const rows = stories.map(({ id, title }) => {
    const { count, ms, costUsd } = figures.get(id) ?? { count: 0, ms: 0, costUsd: null };
    const steps = iterations.filter(({ prd }) => prd?.story === id);
    return [
      <>
        <code>{id}</code> <span class="note">{title}</span>
      </>,
      <span class="steps">{steps.map(Step)}</span>,
      count || '–',
      count === 0 ? '–' : duration(ms),
      costUsd === null ? '–' : formatCost(costUsd),
    ];
  });
  return (
    <Table
      label="Work on each story"
      looks="grid matrix"
      caption="I implement, R review, F fix"
      heads={['Story', 'Work', 'Iterations', 'Time', 'Cost']}
      rows={rows}
    />
  );
}

function Step({ iteration, prd }: IterationView) {
  if (prd === null) return null;
  const [letter, name] = modes[prd.mode];
  const bounced = prd.mode === 'review' && prd.reviewStatus === 'changes_requested';
  const approved = prd.mode === 'review' && prd.reviewStatus === 'approved';
  const result = bounced ? ', changes wanted' : approved ? ', approved' : '';
  return (
    <span
      class={`step ${prd.mode} ${bounced ? 'bounced' : approved ? 'approved' : ''}`}
      title={`iteration ${iteration}: ${name}${result}`}
    >
      {letter}
    </span>
  );
}
