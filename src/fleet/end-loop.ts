import { usedUp } from '../core/decide.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import type { FleetEvent } from './files/events.ts';
import { type LogKind, logLine } from './files/log.ts';
import { isOpen, type LoopEnd, type LoopRecord, type LoopStep, type WhyState } from './files/loops.ts';

/** A decision to stop; with an exit code where the run has one of its own. */
export type Stop = Omit<LoopEnd, 'exitCode'> & { readonly exitCode?: number };

/** Form of an end in `state.json`, `swarm why`, `iterations.log` and the timeline. */
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
  LOOP_FAILED: failed,
  STUCK: failed,
  BUDGET_SPENT: failed,
  USAGE_LIMIT: failed,
  // A person answers, and the same loop is resumed.
  BLOCKED: asking,
  NEEDS_DECISION: asking,
  CANCELLED: stopped,
  INTERRUPTED: stopped,
};

/** Returns the end of a loop by a decision. A loop without a goal is complete when its iterations are used up. */
export function endBy({ outcome, because, exitCode }: Stop, loop: LoopRecord): LoopEnd {
  const isComplete = outcome === 'MAX_ITERATIONS_REACHED' && !hasGoal(loop);
  return { outcome, because, exitCode: isComplete ? 0 : (exitCode ?? outcomes[outcome].exitCode) };
}

/** Returns the end of a loop that has no iteration left. */
export function endAtMax(loop: LoopRecord): LoopEnd {
  return endBy({ outcome: 'MAX_ITERATIONS_REACHED', because: usedUp(loop.iteration, null) }, loop);
}

/** True if a loop has a goal: a done pattern, or the marker that every `ralph run` has. */
function hasGoal({ settings, options }: LoopRecord): boolean {
  return settings.done_pattern !== null || options.run !== undefined;
}

/**
 * Returns the exit code of a loop for `swarm wait`; null while it goes on. 1 if its end is not recorded: a loop that is
 * not known to be done is not done.
 */
export function exitCodeOf({ status, end }: Pick<LoopRecord, 'status' | 'end'>): number | null {
  if (end !== null) return end.exitCode;
  return isOpen({ status }) ? null : 1;
}

/** Returns the step that ends a loop. All texts about ends are made here. */
export function endStep(loop: LoopRecord, end: LoopEnd, at: number): LoopStep {
  const form = end.exitCode === 0 ? done : forms[end.outcome];
  const { text, line, detail } = wordsOf(loop, end, form);
  const { outcome } = end;
  return {
    change: {
      status: form.status,
      iteration: loop.iteration,
      ended: loop.iteration,
      waitUntil: null,
      why: { state: form.state, since: at, ...(detail === '' ? {} : { detail }) },
      end,
    },
    lines: [logLine(at, form.log, line)],
    events: [{ at, type: form.event, text, iteration: loop.iteration, outcome }],
  };
}

/** Returns the text for the timeline, the line for the log, and the detail for `swarm why`. */
function wordsOf(loop: LoopRecord, end: LoopEnd, { status }: Form) {
  const { outcome, because, exitCode } = end;
  const after = `after ${loop.iteration} iteration${loop.iteration === 1 ? '' : 's'}`;
  const words = (text: string, line: string, detail = text) => ({ text, line, detail });
  if (outcome === 'CANCELLED') return words('stopped', `loop stopped at iteration ${loop.iteration}`, '');
  if (outcome === 'MAX_ITERATIONS_REACHED' && exitCode !== 0) {
    const text = `loop not done ${after}`;
    return words(text, `${text} reason=max_iterations`, because.text);
  }
  const complete = `loop complete ${after}`;
  if (outcome === 'MAX_ITERATIONS_REACHED') {
    const detail = loop.failures > 0 ? because.text : complete;
    return words(complete, `${complete} reason=max_iterations`, detail);
  }
  if (outcome === 'PROMISE_ACCEPTED') {
    return loop.options.run === undefined && loop.settings.done_pattern !== null
      ? words('done pattern matched, stopping loop', `${complete} reason=done_pattern`)
      : words('claim accepted, stopping loop', `${complete} reason=claim_accepted`, because.text);
  }
  if (because.code === 'failures') {
    const text = `${loop.failures} consecutive failures, stopping loop`;
    return words(text, `loop stopped ${after} reason=failures`, because.text);
  }
  return words(because.text, `loop ${status}: ${because.text}`);
}
