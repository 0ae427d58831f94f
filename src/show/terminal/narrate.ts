import { formatDuration } from '../../core/duration.ts';
import { doneByTasks } from '../../core/evidence.ts';
import { limitOfReason, outcomeWithCause } from '../../core/limit-words.ts';
import { plural } from '../../core/text.ts';
import type { EventOf, JournalEvent } from '../../journal/events.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from './style.ts';
import { clockTime, formatCost } from './units.ts';

type Paint = 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
type SymbolName = Parameters<Style['symbol']>[0];
/** Returns a coloured line that begins with a symbol. */
type PaintLine = (paint: Paint, symbol: SymbolName, text: string) => string;

/** Tells a run in a line or two per event. */
export function narrate(event: JournalEvent, style: Style): string[] {
  const line: PaintLine = (paint, symbol, text) => style[paint](`${style.symbol(symbol)} ${text}`);
  switch (event.type) {
    case 'iteration.started': {
      const of = event.of === null ? '' : `/${event.of}`;
      return ['', style.bold(`${style.symbol('iteration')} Iteration ${event.iteration}${of}`)];
    }
    case 'decision':
      return narrateDecision(event, line);
    case 'note':
      return [line('cyan', 'from', `Word for the agent: ${firstLine(event.text)}`)];
    case 'run.resumed':
      return [style.dim(`Resuming at iteration ${event.iteration}`)];
    case 'paused':
      return [line('yellow', 'wait', `Waiting: ${firstLine(event.because)}`)];
    case 'unpaused':
      return [line('dim', 'again', 'Going on after the pause')];
    case 'notice':
      return [line('yellow', 'warn', event.text)];
    case 'sandbox.denied': {
      const place = cleanTerminal(`${event.host}:${event.port} ${event.because}`);
      return [line('dim', 'warn', `Sandbox: ${place} (--allow-host)`)];
    }
    case 'notified':
      // A bell fails only for want of a terminal, and the start has warned of that.
      if (event.ok || event.channel === 'bell') return [];
      return [line('yellow', 'warn', `Notification by ${event.channel} failed: ${event.detail}`)];
    case 'run.ended': {
      const cost = event.usage.costUsd === undefined ? '' : `, ${formatCost(event.usage.costUsd)}`;
      const figures = `${plural(event.iterations, 'iteration')}, ${formatDuration(event.ms)}${cost}`;
      const paint = event.exitCode === 0 ? style.green : style.yellow;
      const mark = limitOfReason(event.because.code)?.mark;
      const text = `${mark === undefined ? '' : `${style.symbol(mark)} `}${cleanTerminal(event.because.text)}`;
      const why = event.outcome === 'PROMISE_ACCEPTED' ? [] : [text];
      return [
        '',
        style.bold(paint(`${outcomeWithCause(event.outcome, event.because.code)} (${figures})`)),
        ...why,
      ];
    }
    case 'run.yielded':
      return [style.dim('Stopped after one iteration, as asked. Next: ralph run --resume')];
    default:
      return narrateIteration(event, style, line);
  }
}

function narrateIteration(event: JournalEvent, style: Style, line: PaintLine): string[] {
  const result = (ok: boolean, text: string) => [
    ok ? line('green', 'pass', text) : line('red', 'fail', text),
  ];
  switch (event.type) {
    case 'prd.iteration': {
      const { done, total } = event.counts;
      const story = event.story ?? 'no story is left';
      return [line('cyan', 'run', `${event.mode}: ${story} (${done} of ${total} done)`)];
    }
    case 'prd.checked': {
      const how = event.undone ? ', undone' : '';
      return event.problems.flatMap((problem) => result(false, `tasks.json${how}: ${firstLine(problem)}`));
    }
    case 'agent.ended': {
      // The decision tells a limit.
      if (event.end === 'finished' || event.end === 'limited') return [];
      const error = event.error ? `: ${firstLine(event.error)}` : '';
      return result(false, `The turn ended as ${event.end}${error}`);
    }
    case 'guardrail.started':
      return [line('dim', 'run', `Guardrail "${event.command}"`)];
    case 'guardrail.ended': {
      const time = formatDuration(event.ms);
      if (event.ok) return result(true, `Guardrail "${event.command}" passed (exit code 0, ${time})`);
      const how = event.timedOut ? 'timed out' : `failed with exit code ${event.exitCode}`;
      return result(false, `Guardrail "${event.command}" ${how} (${time}), fail action ${event.action}`);
    }
    case 'verdict': {
      const because = firstLine(event.because);
      const doubts = event.evidence.filter(({ warning }) => warning);
      return [
        ...result(event.accepted, event.accepted ? acceptedAs(because) : `Claim rejected: ${because}`),
        ...doubts.map(({ detail }) => line('yellow', 'warn', `Look at the checks: ${firstLine(detail)}`)),
      ];
    }
    case 'verify.ended': {
      const mark = event.ok ? style.green(style.symbol('pass')) : style.red(style.symbol('fail'));
      const how = event.ok ? 'passed' : `failed with exit code ${event.exitCode}`;
      return [`${mark} Verify "${event.command}" ${how} (${formatDuration(event.ms)})`];
    }
    case 'scm.ended':
      return result(event.ok, `SCM ${event.task}${event.ok ? '' : ' failed'}: ${firstLine(event.detail)}`);
    default:
      return [];
  }
}

function narrateDecision({ kind, because, at, ms = 0 }: EventOf<'decision'>, line: PaintLine): string[] {
  const why = firstLine(because.text);
  if (kind === 'wait')
    return [
      line(
        'yellow',
        limitOfReason(because.code)?.mark ?? 'wait',
        `Waiting ${formatDuration(ms)}, until ${clockTime(Date.parse(at) + ms)}: ${why}`,
      ),
    ];
  const isShown = because.code === 'claim-rejected' || because.code === 'checks-failed';
  return kind === 'stop' || isShown ? [] : [line('dim', 'again', `Going on: ${why}`)];
}

/** Returns the first line of a text, fit for a terminal. */
export function firstLine(text: string): string {
  return cleanTerminal(text).split('\n')[0]?.replaceAll('\t', '  ') ?? '';
}

function acceptedAs(because: string): string {
  return because.startsWith(doneByTasks)
    ? `E${because.slice(1)} (the agent left out the tag)`
    : `Claim accepted, ${because}`;
}
