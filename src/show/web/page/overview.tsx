import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { plural } from '../../../core/text.ts';
import { totalTokens } from '../../../core/turn.ts';
import { costText, formatCost, formatTokens } from '../../terminal/units.ts';
import type { LoopSummary } from '../summarise.ts';
import { byUrgency, isLive, type Status } from '../summary.ts';
import { clearFilters, Filters, fitsFilters, group, projectOf } from './filters.tsx';
import { badgeOf, clock, duration } from './format.ts';
import { MarkShape } from './marks.tsx';
import { Figure, SmallButton, Waiting } from './parts.tsx';
import { loops, now } from './state.ts';

const groups: readonly (readonly [title: string, fits: (status: Status) => boolean])[] = [
  ['Needs you', (status) => status === 'needs-you'],
  ['At work', (status) => status === 'running' || status === 'waiting' || status === 'paused'],
  ['Ended', (status) => !isLive(status)],
];
const shownAtOnce = 60;

export function Overview() {
  const all = [...(loops.value?.values() ?? [])].sort(byUrgency);
  const matches = all.filter(fitsFilters());
  useKeptFocus();
  if (loops.value === null) return <Waiting />;
  return (
    <main class="overview" id="main">
      <h1 class="unseen">All loops</h1>
      <div class="toolbar">
        <Totals loops={all} />
        <Filters loops={all} />
      </div>
      <div class="groups">
        {groups.map(([title, fits]) => (
          <Group key={title} title={title} loops={matches.filter(({ status }) => fits(status))} />
        ))}
        {all.length === 0 && (
          <p class="empty">
            No loop here yet. Start one: <code>ralph run -p "your task"</code>
          </p>
        )}
        {all.length > 0 && matches.length === 0 && (
          <p class="empty">
            Nothing fits the filters. <SmallButton text="Show all" onClick={clearFilters} />
          </p>
        )}
      </div>
    </main>
  );
}

/** A card that moves in the list would lose the focus. */
function useKeptFocus(): void {
  const { id } = document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
  useLayoutEffect(() => {
    if (id) document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  });
}

const tiles: readonly (readonly [name: string, ...states: Status[]])[] = [
  ['need you', 'needs-you'],
  ['at work', 'running', 'waiting', 'paused'],
  ['done', 'done'],
  ['not done', 'failed', 'stopped'],
];

/** Counts by state; a click on one shows only those. */
function Totals({ loops }: { readonly loops: readonly LoopSummary[] }) {
  const costs = loops.flatMap(({ usage }) => usage.costUsd ?? []);
  const tokens = loops.reduce((sum, { usage }) => sum + totalTokens(usage), 0);
  const isEstimate = loops.some(({ usage }) => usage.estimated);
  const cost = costs.length === 0 ? 'not reported' : formatCost(costs.reduce((sum, one) => sum + one, 0));
  return (
    <div class="totals" aria-live="off">
      {tiles.map(([name, ...states]) => {
        const count = loops.filter(({ status }) => states.includes(status)).length;
        const isChosen = group.value?.[0] === states[0];
        return (
          <button
            type="button"
            class={`figure ${name === 'need you' && count > 0 ? 'ask' : ''}`}
            aria-pressed={isChosen}
            onClick={() => (group.value = isChosen ? null : states)}
          >
            <b>{count}</b>
            <span>{name}</span>
          </button>
        );
      })}
      <Figure name="tokens" value={formatTokens(tokens)} />
      <Figure name={isEstimate ? 'cost, estimated in part' : 'cost'} value={cost} />
    </div>
  );
}

function Group({ title, loops }: { readonly title: string; readonly loops: readonly LoopSummary[] }) {
  const limit = useSignal(shownAtOnce);
  const rest = loops.length - limit.value;
  if (loops.length === 0) return null;
  return (
    <section>
      <h2>
        {title}
        <span class="count">{loops.length}</span>
      </h2>
      <div class="cards">
        {loops.slice(0, limit.value).map((loop) => (
          <LoopCard key={loop.id} loop={loop} />
        ))}
      </div>
      {rest > 0 && (
        <button type="button" class="more" onClick={() => (limit.value = Number.POSITIVE_INFINITY)}>
          Show {rest} more
        </button>
      )}
    </section>
  );
}

function LoopCard({ loop }: { readonly loop: LoopSummary }) {
  const { id, name, title, status, stories, iteration, of, usage, kind, branch, isCommand } = loop;
  const { startedAt, updatedAt, elapsedMs } = loop;
  const done = stories ? stories.done / Math.max(1, stories.total) : of ? iteration / of : 0;
  const share = isLive(status) ? done : 1;
  const progress = stories ? `${stories.done}/${stories.total} stories · ` : '';
  // While it is at work, the page counts on.
  const isGoing = status === 'running' || status === 'waiting';
  const silentMs = () => Math.max(0, now.value - (updatedAt ?? now.value));
  const isWatched = isLive(status) && (status !== 'needs-you' || kind === 'worker');
  return (
    <a class={`loop card ${status}`} href={`#/loop/${encodeURIComponent(id)}`} data-id={id}>
      <div class="loop-head">
        <b class="title">{title || name}</b>
        <span class={`pill ${status}`}>{badgeOf(loop)}</span>
      </div>
      <p class="name">{[projectOf(loop), branch, name].filter(Boolean).join(' · ')}</p>
      <p class="detail">{loop.detail}</p>
      <Sparkline {...loop} />
      {!isCommand && (
        <div class="progress">
          <i style={{ width: `${Math.min(100, share * 100)}%` }} />
        </div>
      )}
      <div class="facts">
        {!isCommand && <span>{`${progress}iteration ${iteration}${of ? `/${of}` : ''}`}</span>}
        <span>{duration(elapsedMs + (isGoing ? silentMs() : 0))}</span>
        {usage.costUsd !== undefined && <span>{costText(usage)}</span>}
        <span>{loop.agent}</span>
        {isWatched
          ? updatedAt !== null && <span>{`last sign ${duration(silentMs())} ago`}</span>
          : startedAt !== null && <span>{clock(startedAt)}</span>}
      </div>
    </a>
  );
}

/** How the last iterations came out, each by its shape. */
function Sparkline({ marks }: LoopSummary) {
  if (marks.length === 0) return null;
  const step = 14;
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${24 * step} 14`}
      preserveAspectRatio="xMinYMid meet"
      height={14}
      role="img"
      aria-label={`${plural(marks.length, 'iteration')}, the last one: ${marks.at(-1)}`}
    >
      {marks.slice(-24).map((mark, index) => (
        <MarkShape mark={mark} x={index * step + 7} y={7} />
      ))}
    </svg>
  );
}
