import { decide, newLoop } from '../core/decide.ts';
import type { LoopPlan } from '../core/loop.ts';
import type { Turn } from '../core/turn.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import { type LogKind, logLine } from '../store/fleet-log.ts';
import type { LoopEnd, LoopRecord, LoopStep, Why } from '../store/fleet-loops.ts';
import { endBy, endStep, type Stop } from './end-loop.ts';
import type { IterationEnd, Next } from './port.ts';

export const maxFailures = 5;
const windowLost = 'window lost';

/** Books the end of the iteration that runs: what changes, what is told, and what comes next. */
export function bookEnd(loop: LoopRecord, end: IterationEnd): { step: LoopStep; next: Next } {
  const durationMs = Math.max(0, end.at - (loop.iterationStartedAt ?? end.at));
  const decided = decide(stateFor(loop), turnOf(end, durationMs), []);
  const { decision } = decided;
  const { failures } = decided.loop;
  const failed = failures > loop.failures;
  const counts = { failures, totalFailures: loop.totalFailures + (failed ? 1 : 0) };
  const goesOn = decision.kind !== 'stop' && end.stop === undefined && loop.status !== 'paused';
  const told = tellEnd(loop, end, durationMs, failures, goesOn);
  // A limit of the provider is nobody's failure: the same iteration is run again.
  const iteration = end.how === 'limited' && decision.kind === 'wait' ? loop.iteration - 1 : loop.iteration;
  const booked = { ...counts, iteration, ended: iteration };

  const stop = end.stop ? stopOf(end.stop) : decision.kind === 'stop' ? decision : null;
  if (stop !== null) {
    const ended = endBy(stop, loop);
    const step = endStep({ ...loop, ...booked }, ended, end.at);
    return {
      step: {
        change: { ...booked, ...step.change },
        lines: [...told.lines, ...(step.lines ?? [])],
        events: [...told.events, ...(step.events ?? [])],
      },
      next: nextAfter(step.change.status, ended),
    };
  }
  const until = decision.kind === 'wait' ? end.at + decision.ms : null;
  const paused = loop.status === 'paused';
  return {
    step: {
      change: { ...booked, waitUntil: until, why: whyOf(paused, end, until) },
      lines: told.lines,
      events: told.events,
    },
    next: paused
      ? { kind: 'paused' }
      : until === null
        ? { kind: 'continue', claim: null }
        : { kind: 'wait', until },
  };
}

type Told = { readonly lines: string[]; readonly events: FleetEvent[] };

/** Somebody else judged that it does not go on. */
function stopOf({ status, why: text }: NonNullable<IterationEnd['stop']>): Stop {
  return status === 'paused'
    ? { outcome: 'BLOCKED', because: { code: 'blocked', text } }
    : { outcome: 'AGENT_FAILED', because: { code: 'turn-failed', text } };
}

function nextAfter(status: LoopRecord['status'] | undefined, { exitCode }: LoopEnd): Next {
  if (status === 'paused') return { kind: 'paused' };
  return { kind: 'ended', status: status === 'failed' ? 'failed' : 'stopped', exitCode };
}

/** What is told of an end; that another iteration comes, only where it `goesOn`. */
function tellEnd(
  loop: LoopRecord,
  end: IterationEnd,
  durationMs: number,
  failures: number,
  goesOn: boolean,
): Told {
  const { iteration, settings } = loop;
  const { at, how, exitCode } = end;
  const event = (type: FleetEvent['type'], text: string): FleetEvent => ({
    at,
    type,
    text,
    iteration,
    exitCode,
  });
  const line = (kind: LogKind, text: string) => logLine(at, kind, `iteration ${iteration} ${text}`);
  const code = exitCode ?? 'unknown';
  if (how === 'inactive') {
    const seconds = settings.inactivity_timeout;
    return {
      lines: [line('TIMEOUT', `inactivity_timeout=${seconds}s`)],
      events: [event('inactive', `inactivity timeout (${seconds}s)${goesOn ? ', restarting' : ''}`)],
    };
  }
  if (how === 'done') {
    return { lines: [line('END', `exit=${code} duration=${duration(durationMs, '')}`)], events: [] };
  }
  const lines = [line('END', `exit=${code} duration=${duration(durationMs, '')}`)];
  if (how === 'limited') return { lines, events: [event('limit', 'usage limit, waiting')] };
  if (failures === 0) {
    const text = `iteration ${iteration} completed (exit: ${code}, duration: ${duration(durationMs, ' ')})`;
    return { lines, events: [event('iteration.ended', text)] };
  }
  const seconds = goesOn ? backoffSeconds(failures) : 0;
  const attempt = `attempt=${failures}/${maxFailures}`;
  lines.push(line('FAIL', `exit=${code} ${attempt}${seconds === 0 ? '' : ` backoff=${seconds}s`}`));
  const retry = seconds === 0 ? '' : `, retrying in ${seconds}s (attempt ${failures}/${maxFailures})`;
  const isLost = how === 'lost';
  const text = `iteration ${iteration} failed (${isLost ? windowLost : `exit: ${code}`})${retry}`;
  return { lines, events: [event(isLost ? 'window-lost' : 'iteration.ended', text)] };
}

function backoffSeconds(failures: number): number {
  return Math.min(2 ** (failures - 1), 300);
}

function whyOf(paused: boolean, { at, how }: IterationEnd, until: number | null): Why {
  const detail = how === 'lost' ? { detail: windowLost } : {};
  if (paused) return { state: 'paused', since: at, ...detail };
  if (until === null) return { state: 'queued', since: at };
  return { state: how === 'limited' ? 'limit' : 'backoff', since: at, until, ...detail };
}

/** An agent that falls silent has finished its turn, and a match counts whatever the exit code. */
function turnOf(end: IterationEnd, durationMs: number): Turn {
  const good = end.exitCode === 0 || end.doneMatched || ['inactive', 'done', 'wrapped-up'].includes(end.how);
  const limit =
    end.how === 'limited' && !end.doneMatched
      ? {
          limit: {
            kind: 'usage' as const,
            ...(end.limitUntil === undefined ? {} : { resetsAt: end.limitUntil }),
          },
        }
      : {};
  return {
    text: [],
    toolCalls: null,
    end: good ? 'finished' : 'failed',
    exitCode: end.exitCode,
    progress: { commits: 0, filesChanged: 0 },
    endedAt: end.at,
    durationMs,
    patternMatched: end.doneMatched,
    ...limit,
  };
}

function stateFor(loop: LoopRecord) {
  return { ...newLoop(planOf(loop), '', loop.iteration), failures: loop.failures };
}

function planOf({ name, settings }: LoopRecord): LoopPlan {
  return {
    id: name,
    completion: { pattern: settings.done_pattern ?? 'done' },
    minToolCalls: null,
    countInPrompt: false,
    limits: {
      iterations: settings.max_iterations,
      failures: maxFailures,
      waitMs: Number.MAX_SAFE_INTEGER,
      wallMs: null,
      tokens: null,
      costUsd: null,
      iterationTokens: null,
      iterationCostUsd: null,
      withoutProgress: 0,
      withoutTools: 0,
      sameError: 0,
    },
  };
}

/** `5m42s`, or `5m 42s` with a blank as the gap. */
export function duration(ms: number, gap: '' | ' '): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
  ] as const;
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return [...shown, `${seconds % 60}s`].join(gap);
}
