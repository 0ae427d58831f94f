import { useSignal } from '@preact/signals';
import { elapsedAt, type RunView, skippedText, titleOf } from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import type { LoopSummary } from '../summarise.ts';
import { Columns } from './columns.tsx';
import { ActionButtons } from './dialogs.tsx';
import { badgeOf, clock, cost, describeIteration, duration, markNames, percent, tokens } from './format.ts';
import { IterationPanel } from './iteration-panel.tsx';
import { MarkIcon } from './marks.tsx';
import { Card, Choice, Figure, lazy, Note, Waiting } from './parts.tsx';
import { api, hovered, info, isGone, selected, summary, told, view, viewEnd } from './state.ts';
import { hasStopCard, StopCard } from './stop-card.tsx';
import { Tasks } from './tasks.tsx';
import { Terminal } from './terminal.tsx';
import { Timeline } from './timeline.tsx';

const IterationTable = lazy(async () => (await import('./iteration-table.tsx')).IterationTable);

export function LoopPage({ id }: { readonly id: string }) {
  const loop = summary.value;
  const run = view.value;
  const at = viewEnd.value;
  const one = run?.iterations[selected.value];
  if (run === null) return <Waiting />;
  return (
    <main class="loop-page" id="main">
      <div class="loop-top">
        <Title view={run} loop={loop} />
        {info.value?.control && loop && <ActionButtons loop={loop} />}
      </div>
      <p class="told" role="status">
        {isGone.value ? 'It is not there any more: somebody removed it.' : told}
      </p>
      <StopCard loop={id} view={run} summary={loop} />
      <Figures view={run} at={at} />
      {api.isLive && loop?.kind === 'worker' && (
        <Card title={loop.hasTerminal ? 'Terminal' : 'Log'}>
          <Terminal loop={id} />
        </Card>
      )}
      <Tasks view={run} at={at} />
      {one && (
        <>
          <Card title="Timeline" beside={<Legend {...run} />}>
            <Timeline view={run} selected={selected.value} at={at} />
          </Card>
          <Charts view={run} at={at} />
          <IterationPanel loop={id} view={run} one={one} at={at} />
        </>
      )}
      <Notices view={run} />
    </main>
  );
}

function Charts({ view, at }: { readonly view: RunView; readonly at: number }) {
  const form = useSignal<'chart' | 'table'>('chart');
  const beside = (
    <>
      <Readout view={view} />
      <Choice
        name="Form"
        value={form.value}
        options={[
          ['chart', 'Chart'],
          ['table', 'Table'],
        ]}
        choose={(one) => (form.value = one)}
      />
    </>
  );
  return (
    <Card title="Iteration by iteration" looks="strip-card" beside={beside}>
      {form.value === 'chart' ? (
        <Columns view={view} selected={selected.value} at={at} />
      ) : (
        <IterationTable view={view} at={at} />
      )}
    </Card>
  );
}

function Title({ view, loop }: { readonly view: RunView; readonly loop: LoopSummary | undefined }) {
  const { run, agent, agentVersion, cwd, branch, task } = view;
  return (
    <div class="loop-title">
      <h1>{titleOf(task) || loop?.name}</h1>
      <p class="note">
        {loop && <span class={`pill ${loop.status}`}>{badgeOf(loop)}</span>}
        {!hasStopCard(view, loop) && <span class="now-doing">{loop?.detail}</span>}
      </p>
      <Note text={[cwd, branch, agent, agentVersion, loop?.name ?? run].filter(Boolean).join(' · ')} />
    </div>
  );
}

function Figures({ view, at }: { readonly view: RunView; readonly at: number }) {
  const { iterations, limits, usage, claims, waitUntil, state } = view;
  const of = iterations.at(-1)?.of;
  const context = iterations.findLast((one) => one.context !== null)?.context;
  const toolCalls = iterations.reduce((sum, one) => sum + (one.toolCalls ?? 0), 0);
  return (
    <div class="totals">
      {!summary.value?.isCommand && (
        <Figure name={of ? `of ${of} iterations` : 'iterations'} value={String(view.iteration)} />
      )}
      <Figure name="at work" value={duration(elapsedAt(view, at))} />
      {view.source === 'journal' && (
        <>
          <Figure
            name={limits?.costUsd ? `cost, budget ${formatCost(limits.costUsd)}` : 'cost'}
            value={cost(usage)}
          />
          <Figure name="tokens" value={tokens(usage)} />
          <Figure name="tool calls" value={String(toolCalls)} />
          <Figure name="claims accepted / rejected" value={`${claims.accepted} / ${claims.rejected}`} />
        </>
      )}
      {context?.window && (
        <Figure name="context, last iteration" value={percent(context.tokens / context.window)} />
      )}
      {state === 'waiting' && waitUntil !== null && (
        <Figure name="goes on in" value={duration(Math.max(0, waitUntil - at))} />
      )}
    </div>
  );
}

/** Legend of the timeline: each kind of event with its shape. */
function Legend({ iterations }: RunView) {
  const order = Object.keys(markNames);
  const used = [...new Set(iterations.map(({ mark }) => mark))];
  return (
    <div class="legend">
      {used
        .sort((a, b) => order.indexOf(a) - order.indexOf(b))
        .map((mark) => (
          <span class="key">
            <MarkIcon mark={mark} />
            {markNames[mark]}
          </span>
        ))}
      {iterations.some(({ wait }) => wait !== null) && (
        <span class="key">
          <i class="waiting" />
          waiting
        </span>
      )}
    </div>
  );
}

/** The iteration under the pointer, else the chosen one, in a line. */
function Readout({ view }: { readonly view: RunView }) {
  const one = view.iterations[hovered.value ?? selected.value];
  return <p class="readout">{describeIteration(one, view, viewEnd.value).replaceAll('\n', ' · ')}</p>;
}

function Notices({ view }: { readonly view: RunView }) {
  const skipped = skippedText(view);
  if (view.notices.length === 0 && skipped === null) return null;
  return (
    <Card title="Notices">
      {skipped !== null && <Note text={`${skipped}.`} />}
      <ul class="notices">
        {view.notices
          .slice(-20)
          .reverse()
          .map(({ at, text }) => (
            <li>
              <time>{clock(at)}</time> {text}
            </li>
          ))}
      </ul>
    </Card>
  );
}
