import type { FleetEvent } from '../store/fleet-events.ts';
import { type LogKind, logLine } from '../store/fleet-log.ts';
import type { LoopRecord, LoopStep, Why } from '../store/fleet-loops.ts';
import { decisionOn, durationOf, waitsForProvider } from './decide-turn.ts';
import { endBy, endStep } from './end-loop.ts';
import type { IterationEnd, LoopDecision } from './iteration-end.ts';

const windowLost = 'window lost';

/** Books the end of the iteration that runs: what changes, and what is told. */
export function bookEnd(loop: LoopRecord, end: IterationEnd): LoopStep {
  const decision = decisionOn(loop, end);
  const { failures, iterations } = decision;
  const counts = {
    failures,
    totalFailures: loop.totalFailures + (failures > loop.failures ? 1 : 0),
    iteration: iterations,
    ended: iterations,
  };
  const told = tellEnd(loop, end, decision);
  if (decision.kind === 'stop') return bookStop({ ...loop, ...counts }, end.at, decision, told);
  const isPaused = loop.status === 'paused';
  const waitUntil = decision.kind === 'wait' ? end.at + decision.ms : null;
  return { ...told, change: { ...counts, waitUntil, why: whyOf(isPaused, end, decision) } };
}

type Told = { readonly lines: string[]; readonly events: FleetEvent[] };

function bookStop(
  loop: LoopRecord,
  at: number,
  stop: Extract<LoopDecision, { kind: 'stop' }>,
  told: Told,
): LoopStep {
  const end = endBy(stop, loop);
  const {
    change,
    lines = [],
    events = [],
  } = endStep(loop, { ...end, exitCode: stop.exitCode ?? end.exitCode }, at);
  const { failures, totalFailures } = loop;
  return {
    change: { failures, totalFailures, ...change },
    lines: [...told.lines, ...lines],
    events: [...told.events, ...events],
  };
}

/** What is told of an end; that another iteration comes, only where one does. */
function tellEnd(loop: LoopRecord, end: IterationEnd, decision: LoopDecision): Told {
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
  if (how === 'done' || because.code === 'not-started') return { lines, events: [] };
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

function whyOf(isPaused: boolean, { at, how }: IterationEnd, decision: LoopDecision): Why {
  const detail = how === 'lost' ? { detail: windowLost } : {};
  if (isPaused) return { state: 'paused', since: at, ...detail };
  if (decision.kind !== 'wait') return { state: 'queued', since: at };
  const state = waitsForProvider(decision) ? 'limit' : 'backoff';
  return { state, since: at, until: at + decision.ms, ...detail };
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
