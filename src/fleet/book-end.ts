import { durationOf, waitsForProvider } from './decide-turn.ts';
import { endBy, endStep } from './end-loop.ts';
import type { FleetEvent } from './files/events.ts';
import { type LogKind, logLine } from './files/log.ts';
import type { LoopRecord, LoopStep, Why } from './files/loops.ts';
import type { DecidedEnd, IterationEnd, LoopDecision } from './iteration-end.ts';

const windowLost = 'window lost';

/** Returns the step that books the end of the running iteration. */
export function bookEnd(loop: LoopRecord, end: DecidedEnd): LoopStep {
  const { decision } = end;
  const { failures, iterations } = decision;
  const counts = { ...countFailures(loop, failures), iteration: iterations, ended: iterations };
  const report = reportEnd(loop, end, decision);
  if (decision.kind === 'stop') return bookStop({ ...loop, ...counts }, end.at, decision, report);
  const waitUntil = decision.kind === 'wait' ? end.at + decision.ms : null;
  return { ...report, change: { ...counts, waitUntil, why: whyOf(loop, end, decision) } };
}

/** Returns the counts after `failures` failed turns in a row. */
export function countFailures({ failures: before, totalFailures }: LoopRecord, failures: number) {
  return { failures, totalFailures: totalFailures + (failures > before ? 1 : 0) };
}

type EndReport = { readonly lines: string[]; readonly events: FleetEvent[] };

function bookStop(
  loop: LoopRecord,
  at: number,
  stop: Extract<LoopDecision, { kind: 'stop' }>,
  report: EndReport,
): LoopStep {
  const { change, lines = [], events = [] } = endStep(loop, endBy(stop, loop), at);
  const { failures, totalFailures } = loop;
  return {
    change: { failures, totalFailures, ...change },
    lines: [...report.lines, ...lines],
    events: [...report.events, ...events],
  };
}

/** Returns the lines and events of an end. They mention the next iteration only if there is one. */
function reportEnd(loop: LoopRecord, end: IterationEnd, decision: LoopDecision): EndReport {
  const { iteration, settings } = loop;
  const { at, how, exitCode } = end;
  const { failures, maxFailures, because } = decision;
  const goesOn = decision.kind !== 'stop' && loop.status !== 'paused';
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
  const durationMs = durationOf(loop, end);
  const lines = [line('END', `exit=${code} duration=${duration(durationMs, '')}`)];
  const isRefused = decision.kind === 'stop' && decision.iterations < iteration;
  if (how === 'done' || isRefused) return { lines, events: [] };
  if (waitsForProvider(decision)) return { lines, events: [event('limit', `${because.text}, waiting`)] };
  if (failures <= loop.failures) {
    const text = `iteration ${iteration} completed (exit: ${code}, duration: ${duration(durationMs, ' ')})`;
    return { lines, events: [event('iteration.ended', text)] };
  }
  const seconds = decision.kind === 'wait' && goesOn ? Math.round(decision.ms / 1000) : 0;
  lines.push(
    line(
      'FAIL',
      `exit=${code} attempt=${failures}/${maxFailures}${seconds === 0 ? '' : ` backoff=${seconds}s`}`,
    ),
  );
  const retry = seconds === 0 ? '' : `, retrying in ${seconds}s (attempt ${failures}/${maxFailures})`;
  const isLost = how === 'lost';
  const text = `iteration ${iteration} failed (${isLost ? windowLost : `exit: ${code}`})${retry}`;
  return { lines, events: [event(isLost ? 'window-lost' : 'iteration.ended', text)] };
}

/** Returns the state of the loop after an end. That of a run has the reason from its journal. */
function whyOf({ status, options }: LoopRecord, { at, how }: IterationEnd, decision: LoopDecision): Why {
  const isRun = options.run !== undefined && decision.kind === 'wait';
  const detail = isRun ? { detail: decision.because.text } : how === 'lost' ? { detail: windowLost } : {};
  if (status === 'paused') return { state: 'paused', since: at, ...detail };
  if (decision.kind !== 'wait') return { state: 'queued', since: at };
  const state = waitsForProvider(decision) ? 'limit' : 'backoff';
  return { state, since: at, until: at + decision.ms, ...detail };
}

/** Formats a duration: `5m42s`, or `5m 42s` with a blank as the gap. */
export function duration(ms: number, gap: '' | ' '): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
  ] as const;
  const nonZero = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return [...nonZero, `${seconds % 60}s`].join(gap);
}
