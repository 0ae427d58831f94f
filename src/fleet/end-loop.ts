import type { Decision } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import { type LogKind, logLine } from '../store/fleet-log.ts';
import type { LoopEnd, LoopRecord, LoopStep, WhyState } from '../store/fleet-loops.ts';

/** A decision to stop. */
export type Stop = Omit<Extract<Decision, { kind: 'stop' }>, 'kind'>;

/** How an end is written: in `state.json`, in `swarm why`, in `iterations.log` and in the timeline. */
type Form = {
  readonly status: Exclude<LoopRecord['status'], 'running'>;
  readonly state: WhyState;
  readonly log: LogKind;
  readonly event: FleetEvent['type'];
};

const done: Form = { status: 'stopped', state: 'done', log: 'DONE', event: 'done' };
const failed: Form = { status: 'failed', state: 'failed', log: 'FAIL', event: 'failed' };
const stopped: Form = { status: 'stopped', state: 'stopped', log: 'STOP', event: 'stopped' };
const asking: Form = { status: 'paused', state: 'answer', log: 'PAUSE', event: 'paused' };

const forms: Readonly<Record<Outcome, Form>> = {
  PROMISE_ACCEPTED: done,
  MAX_ITERATIONS_REACHED: { status: 'stopped', state: 'unfinished', log: 'FAIL', event: 'unfinished' },
  AGENT_FAILED: failed,
  STUCK: failed,
  BUDGET_SPENT: failed,
  USAGE_LIMIT: failed,
  // A person answers, and the same loop is resumed.
  BLOCKED: asking,
  NEEDS_DECISION: asking,
  CANCELLED: stopped,
  INTERRUPTED: stopped,
};

/** The end of a loop by a decision. A loop with nothing to reach is complete when its iterations are used up. */
export function endBy({ outcome, because }: Stop, loop: LoopRecord): LoopEnd {
  const isComplete = outcome === 'MAX_ITERATIONS_REACHED' && !hasGoal(loop);
  return { outcome, because, exitCode: isComplete ? 0 : outcomes[outcome].exitCode };
}

/** Whether there is something to reach: a done pattern, or the marker that every `ralph run` has. */
function hasGoal({ settings, options }: LoopRecord): boolean {
  return settings.done_pattern !== null || options.run !== undefined;
}

/** Ends a loop after the iteration that it is at. The only place that says in words how a loop ended. */
export function endStep(loop: LoopRecord, end: LoopEnd, at: number): LoopStep {
  const form = end.exitCode === 0 ? done : forms[end.outcome];
  const { text, line } = wordsOf(loop, end, form);
  const { outcome } = end;
  return {
    change: {
      status: form.status,
      iteration: loop.iteration,
      ended: loop.iteration,
      waitUntil: null,
      why: { state: form.state, since: at, detail: text },
      end,
    },
    lines: [logLine(at, form.log, line)],
    events: [{ at, type: form.event, text, iteration: loop.iteration, outcome }],
  };
}

/** The sentence for people, and the line of the log. */
function wordsOf(loop: LoopRecord, { outcome, because, exitCode }: LoopEnd, { status }: Form) {
  const after = `after ${loop.iteration} iterations`;
  const complete = `loop complete ${after}`;
  if (outcome === 'PROMISE_ACCEPTED') {
    return loop.options.run === undefined
      ? { text: 'done pattern matched, stopping loop', line: `${complete} reason=done_pattern` }
      : { text: 'claim accepted, stopping loop', line: `${complete} reason=claim_accepted` };
  }
  if (outcome === 'MAX_ITERATIONS_REACHED') {
    const text = exitCode === 0 ? complete : `loop not done ${after}`;
    return { text, line: `${text} reason=max_iterations` };
  }
  if (outcome === 'CANCELLED') {
    return { text: because.text, line: `loop stopped at iteration ${loop.iteration}` };
  }
  if (because.code === 'failures') {
    const text = `${loop.failures} consecutive failures, stopping loop`;
    return { text, line: `loop stopped ${after} reason=failures` };
  }
  return { text: because.text, line: `loop ${status}: ${because.text}` };
}
