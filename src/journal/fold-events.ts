import type { CliSetting } from '../config/settings.ts';
import type { Outcome } from '../core/outcome.ts';
import { splitWords } from '../core/words.ts';
import type { EventOf, EventType, JournalEvent } from './events.ts';
import {
  cutIteration,
  endWait,
  type Folds,
  iterationFolds,
  keptText,
  startIteration,
  stopAt,
} from './fold-iteration.ts';
import { elapsedAt, RunView } from './run-view.ts';

const keptNotices = 50;

export function foldEvents(run: string, events: Iterable<JournalEvent>): RunView {
  const view = new RunView(run);
  for (const event of events) addEvent(view, event);
  return view;
}

/** Adds the next event of the journal, in time that does not grow with what is there. */
export function addEvent(view: RunView, event: JournalEvent): void {
  const before = view.updatedAt;
  // A clock that was set back must not make anything end before it began.
  const at = Math.max(Date.parse(event.at), before ?? 0);
  const isYielded = view.state === 'yielded' && event.type !== 'notified';
  const isBroken = event.type === 'run.resumed' || event.type === 'run.abandoned';
  // Of the time between two processes, only a wait that the supervisor served counts.
  if (isYielded || !isBroken) view.elapsedMs = elapsedAt(view, at);
  if (isYielded) stopAt(view, Math.max(before ?? at, Math.min(at, view.waitUntil ?? 0)));
  else if (isBroken) stopAt(view, before ?? at);
  view.updatedAt = at;
  view.seq = event.seq;
  foldOne(event.type, view, event, at);
}

/** Returns the view of a run whose process is gone: whatever it was doing stopped with its last event. */
export function abandoned(view: RunView): RunView {
  const copy = { ...view, iterations: [...view.iterations] };
  stopAt(copy, view.updatedAt ?? 0);
  return Object.assign(copy, endOfProcess(view));
}

/** A claim that was accepted stays accepted, whatever happens to the process. */
function endOfProcess({ outcome }: RunView): Partial<RunView> {
  if (outcome !== null) return { state: 'ended' };
  return { state: 'abandoned', needs: { kind: 'look', text: 'its process is gone: it was killed' } };
}

function foldOne<T extends EventType>(type: T, view: RunView, event: EventOf<T>, at: number): void {
  folds[type](view, event, at);
}

const ignore = (): void => {};

const folds: Folds = {
  ...iterationFolds,
  'run.started': startRun,
  'run.resumed': resumeRun,
  'iteration.started': startIteration,
  paused: pauseRun,
  unpaused(view, _event, at) {
    endWait(view, at);
    notice(view, at, 'goes on after the pause');
  },
  note: (view, { text }, at) => notice(view, at, `note: ${text}`),
  notice: (view, { text }, at) => notice(view, at, text),
  'run.ended': endRun,
  'run.yielded'(view, _event, at) {
    cutIteration(view, at);
    reopen(view);
    view.state = 'yielded';
  },
  'run.abandoned': (view) => void Object.assign(view, endOfProcess(view)),
  'sandbox.ready': ignore,
  'sandbox.denied': ignore,
  notified: ignore,
};

function startRun(view: RunView, event: EventOf<'run.started'>, at: number): void {
  const { cwd, branch = null, agent, agentVersion = null, command, task, plan, pid } = event;
  Object.assign(view, { cwd, branch, agent, agentVersion, command, task, pid, startedAt: at });
  view.limits = plan.limits;
  view.tasks = plan.completion.tasks ?? null;
  if (view.tasks !== null) view.prdOptions = event.cli.flatMap(prdOption);
}

/** Returns the words of a setting from the command line of `ralph prd run`, unless they are what it does by itself. */
function prdOption({ key, value, flag }: CliSetting): string[] {
  if (key === 'sandbox') return value === 'none' ? ['--no-sandbox'] : [];
  if (flag === '--model' && Array.isArray(value)) return [flag, ...(splitWords(String(value.at(-1))) ?? [])];
  const isOption = key === 'agent.command' || key === 'agent.permissions';
  return isOption && value !== 'claude' && value !== 'full' ? [flag, String(value)] : [];
}

function resumeRun(view: RunView, event: EventOf<'run.resumed'>, at: number): void {
  reopen(view);
  view.pid = event.pid;
  view.limits = event.plan?.limits ?? view.limits;
  view.agent = event.agent ?? view.agent;
  view.agentVersion = event.agentVersion ?? view.agentVersion;
  notice(view, at, 'resumed');
}

/** Clears the end of a run that goes on. */
function reopen(view: RunView): void {
  Object.assign(view, { endedAt: null, outcome: null, exitCode: null, needs: null });
  Object.assign(view, { because: null, becauseCode: null });
}

/** Starts a wait without a known end. */
function pauseRun(view: RunView, { because }: EventOf<'paused'>, at: number): void {
  const one = view.iterations.at(-1);
  // A session may be paused in the middle of a turn: that one runs on, or is never decided.
  if (one !== undefined && one.mark !== 'running') {
    one.wait ??= { startedAt: at, plannedMs: 0, ms: null };
    one.seq = view.seq;
  }
  Object.assign(view, { state: 'waiting', waitFor: because, waitUntil: null });
  notice(view, at, because);
}

function endRun(view: RunView, event: EventOf<'run.ended'>, at: number): void {
  stopAt(view, at);
  const { outcome, exitCode, because, iterations, usage } = event;
  Object.assign(view, { state: 'ended', endedAt: at, outcome, exitCode, usage });
  Object.assign(view, { because: because.text, becauseCode: because.code });
  view.iteration = iterations;
  view.needs = needsOf(outcome, because.text);
}

/** Returns what a person has to do after an end: nothing if the loop is done, or if they stopped it. */
export function needsOf(outcome: Outcome, text: string): RunView['needs'] {
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return { kind: 'answer', text };
  const isOver = outcome === 'PROMISE_ACCEPTED' || outcome === 'CANCELLED' || outcome === 'INTERRUPTED';
  return isOver ? null : { kind: 'look', text };
}

function notice(view: RunView, at: number, text: string): void {
  view.notices.push({ at, text: text.slice(0, keptText) });
  if (view.notices.length > keptNotices) view.notices.shift();
}
