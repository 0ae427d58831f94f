import type { ComponentProps } from 'preact';
import { plural } from '../../../core/text.ts';
import { type CheckView, type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { clock, duration, percent } from './format.ts';
import { Answer, Evidence, Facts, SmallButton, signOf, Verbatim } from './parts.tsx';
import { api, openLog, summary } from './state.ts';
import { hasStopCard, judgedLast } from './stop-card.tsx';

export type IterationProps = {
  readonly loop: string;
  readonly view: RunView;
  readonly one: IterationView;
  readonly at: number;
};

export function IterationSummary({ loop, view, one, at }: IterationProps) {
  const { verdict, prd, index, text } = one;
  const isInStopCard = hasStopCard(view, summary.value) && one === judgedLast(view);
  return (
    <div class="summary">
      <Facts facts={factsOf(one, view, at)} />
      <div>
        {verdict && (
          <div class={`verdict ${verdict.accepted ? 'yes' : 'no'}`}>
            <b>{verdict.accepted ? 'Claim accepted' : 'Claim rejected'}</b>
            {!isInStopCard && (
              <>
                <p>{verdict.because}</p>
                <Evidence {...verdict} />
              </>
            )}
          </div>
        )}
        {prd?.problems.map((problem) => (
          <p class="verdict no">{`Undone in the task list: ${problem}`}</p>
        ))}
        <Checks loop={loop} one={one} />
        {index === view.iterations.length - 1 && view.todo.length > 0 && <Todo {...view} />}
        {text !== '' && (
          <div class="said">
            <h3>The agent said</h3>
            <Verbatim text={text.trim()} />
          </div>
        )}
      </div>
    </div>
  );
}

function factsOf(one: IterationView, view: RunView, at: number): ComponentProps<typeof Facts>['facts'] {
  const { usage, context, decision, prd, end, error } = one;
  const time = timeByKind(one, at);
  return [
    ['Started', clock(one.startedAt)],
    ['Agent', duration(time.agent + time.review)],
    ['Checks', time.checks > 0 && duration(time.checks)],
    ['Waited', time.waiting > 0 && duration(time.waiting)],
    ['Turn ended', end !== 'finished' && end && (error ? `${end}: ${error}` : end)],
    ['Tool calls', one.toolCalls === null ? 'not reported' : `${one.toolCalls}, ${one.toolErrors} failed`],
    [
      'Tokens',
      usage &&
        `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, ${formatTokens(usage.cacheReadTokens)} from cache, ${formatTokens(usage.cacheWriteTokens)} to cache`,
    ],
    [
      'Cost',
      usage?.costUsd !== undefined &&
        `${formatCost(usage.costUsd)} ${usage.estimated ? 'estimated' : 'reported'}`,
    ],
    [
      'Context',
      context &&
        (context.window === null
          ? `${formatTokens(context.tokens)}, window unknown`
          : `${percent(context.tokens / context.window)} of ${formatTokens(context.window)}`),
    ],
    ['Changes', changesOf(one, view)],
    ['Story', prd && `${prd.story ?? 'none'} (${prd.mode})`],
    [
      'Decision',
      decision && (one.verdict?.accepted ? decision.kind : `${decision.kind}: ${decision.because.text}`),
    ],
  ];
}

function changesOf({ commits, filesChanged }: IterationView, { source }: RunView): string {
  if (source === 'timeline') return 'not known';
  return `${plural(commits, 'commit')}, ${plural(filesChanged, 'file')} changed`;
}

type ChecksProps = Pick<IterationProps, 'loop' | 'one'>;

function Checks({ loop, one }: ChecksProps) {
  const checks = [...one.guardrails, ...one.verify];
  const open = openLog.value?.index === one.index ? openLog.value.command : null;
  if (checks.length === 0) return null;
  return (
    <div class="checks-list">
      <h3>Checks</h3>
      <ul>
        {checks.map((check) => (
          <Check
            {...check}
            isOpen={open === check.command}
            toggle={() => {
              openLog.value = open === check.command ? null : { index: one.index, command: check.command };
            }}
          />
        ))}
      </ul>
      {open !== null && (
        <div class="log">
          <Log key={`${one.index} ${one.seq} ${open}`} loop={loop} one={one} command={open} />
        </div>
      )}
    </div>
  );
}

type CheckProps = CheckView & { readonly isOpen: boolean; readonly toggle: () => void };

function Check({ command, ok, timedOut, exitCode, ms, isOpen, toggle }: CheckProps) {
  const how = ok === null ? 'running' : timedOut ? 'timed out' : `exit ${exitCode ?? '?'}`;
  return (
    <li class={ok ? 'yes' : 'no'}>
      <span class="state">{signOf(ok)}</span>
      <code>{command}</code>
      <span class="note">{ms === null ? how : `${how}, ${duration(ms)}`}</span>
      <SmallButton
        text={isOpen ? 'Hide output' : 'Output'}
        aria-expanded={isOpen}
        data-escape={isOpen || undefined}
        onClick={toggle}
      />
    </li>
  );
}

const missingLogs = {
  missing: 'There is no output any more.',
  replaced: 'A later run has written over this output.',
};

function Log({ loop, one, command }: ChecksProps & { readonly command: string }) {
  const kind = one.guardrails.some((check) => check.command === command) ? 'guardrail' : 'verify';
  const checks = kind === 'guardrail' ? one.guardrails : one.verify;
  const index = checks.findLastIndex((check) => check.command === command);
  return (
    <Answer
      of={`${one.seq} ${index}`}
      ask={() => api.log(loop, one.index, `${kind}-${index}`)}
      show={(log) => {
        const text = log.kind === 'text' ? log.text || '(it printed nothing)' : missingLogs[log.kind];
        return <Verbatim text={text} label={`Output of ${command}`} />;
      }}
    />
  );
}

const todoSigns = { done: '✓', active: '▸', pending: '○' };

function Todo({ todo }: RunView) {
  return (
    <div class="todo">
      <h3>The agent's list</h3>
      <ul>
        {todo.map(({ text, status }) => (
          <li class={status}>{`${todoSigns[status]} ${text}`}</li>
        ))}
      </ul>
    </div>
  );
}
