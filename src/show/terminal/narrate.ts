import { formatDuration } from '../../core/duration.ts';
import { doneByTasks } from '../../core/evidence.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from './style.ts';
import { formatCost } from './units.ts';

/** The story of a run, a line or two per event. */
export function narrate(event: JournalEvent, style: Style): string[] {
  switch (event.type) {
    case 'iteration.started':
      return [
        '',
        style.bold(
          `${style.symbol('iteration')} Iteration ${event.iteration}${event.of === null ? '' : `/${event.of}`}`,
        ),
      ];
    case 'prd.iteration': {
      const { done, total } = event.counts;
      const what = `${event.mode}: ${event.story ?? 'no story is left'} (${done} of ${total} done)`;
      return [style.cyan(`${style.symbol('run')} ${what}`)];
    }
    case 'prd.checked': {
      const how = event.undone ? ', undone' : '';
      return event.problems.map((problem) =>
        style.red(`${style.symbol('fail')} tasks.json${how}: ${firstLine(problem)}`),
      );
    }
    case 'agent.ended':
      return event.end === 'finished'
        ? []
        : [
            style.red(
              `${style.symbol('fail')} The turn ended as ${event.end}${event.error ? `: ${firstLine(event.error)}` : ''}`,
            ),
          ];
    case 'guardrail.started':
      return [style.dim(`${style.symbol('run')} Guardrail "${event.command}"`)];
    case 'guardrail.ended': {
      const time = formatDuration(event.ms);
      if (event.ok)
        return [
          style.green(`${style.symbol('pass')} Guardrail "${event.command}" passed (exit code 0, ${time})`),
        ];
      const how = event.timedOut ? 'timed out' : `failed with exit code ${event.exitCode}`;
      return [
        style.red(
          `${style.symbol('fail')} Guardrail "${event.command}" ${how} (${time}), fail action ${event.action}`,
        ),
      ];
    }
    case 'verdict':
      return event.accepted
        ? [style.green(`${style.symbol('pass')} ${acceptedAs(firstLine(event.because))}`)]
        : [style.red(`${style.symbol('fail')} Claim rejected: ${firstLine(event.because)}`)];
    case 'decision':
      return narrateDecision(event, style);
    case 'verify.ended': {
      const time = formatDuration(event.ms);
      const mark = event.ok ? style.green(style.symbol('pass')) : style.red(style.symbol('fail'));
      return [
        `${mark} Verify "${event.command}" ${event.ok ? 'passed' : `failed with exit code ${event.exitCode}`} (${time})`,
      ];
    }
    case 'scm.ended':
      return event.ok
        ? [style.green(`${style.symbol('pass')} SCM ${event.task}: ${firstLine(event.detail)}`)]
        : [style.red(`${style.symbol('fail')} SCM ${event.task} failed: ${firstLine(event.detail)}`)];
    case 'note':
      return [style.cyan(`${style.symbol('from')} Word for the agent: ${firstLine(event.text)}`)];
    case 'run.resumed':
      return [style.dim(`Resuming at iteration ${event.iteration}`)];
    case 'paused':
      return [style.yellow(`${style.symbol('wait')} Waiting: ${firstLine(event.because)}`)];
    case 'unpaused':
      return [style.dim(`${style.symbol('again')} Going on after the pause`)];
    case 'notice':
      return [style.yellow(`${style.symbol('warn')} ${event.text}`)];
    case 'sandbox.denied': {
      const place = cleanTerminal(`${event.host}:${event.port} ${event.because}`);
      return [style.dim(`${style.symbol('warn')} Sandbox: ${place} (--allow-host)`)];
    }
    case 'notified':
      // A bell fails only for want of a terminal, of which the start has warned.
      return event.ok || event.channel === 'bell'
        ? []
        : [style.yellow(`${style.symbol('warn')} Notification by ${event.channel} failed: ${event.detail}`)];
    case 'run.ended': {
      const cost = event.usage.costUsd === undefined ? '' : `, ${formatCost(event.usage.costUsd)}`;
      const figures = `${event.iterations} iteration${event.iterations === 1 ? '' : 's'}, ${formatDuration(event.ms)}${cost}`;
      const paint = event.exitCode === 0 ? style.green : style.yellow;
      const why = event.outcome === 'PROMISE_ACCEPTED' ? [] : [cleanTerminal(event.because.text)];
      return ['', style.bold(paint(`${event.outcome} (${figures})`)), ...why];
    }
    case 'run.yielded':
      return [style.dim('Stopped after one iteration, as asked. Next: ralph run --resume')];
    default:
      return [];
  }
}

function narrateDecision(event: Extract<JournalEvent, { type: 'decision' }>, style: Style): string[] {
  if (event.kind === 'wait') {
    return [
      style.yellow(
        `${style.symbol('wait')} Waiting ${formatDuration(event.ms ?? 0)}: ${firstLine(event.because.text)}`,
      ),
    ];
  }
  const told = event.because.code === 'claim-rejected' || event.because.code === 'checks-failed';
  if (event.kind === 'stop' || told) return [];
  return [style.dim(`${style.symbol('again')} Going on: ${firstLine(event.because.text)}`)];
}

/** The first line of a text, fit for a terminal. */
export function firstLine(text: string): string {
  return cleanTerminal(text).split('\n')[0]?.replaceAll('\t', '  ') ?? '';
}

function acceptedAs(because: string): string {
  return because.startsWith(doneByTasks)
    ? `E${because.slice(1)} (the agent left out the tag)`
    : `Claim accepted, ${because}`;
}
