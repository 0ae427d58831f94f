import type { Outcome } from '../core/outcome.ts';
import type { EventOf, JournalEvent } from './events.ts';
import { decideIteration, foldIteration, keptText } from './fold-iteration.ts';
import {
  closeIteration,
  elapsedAt,
  type IterationView,
  newIteration,
  newRunView,
  type RunView,
} from './run-view.ts';

const keptNotices = 50;

/** Folds the events of a run into its view. */
export function foldEvents(run: string, events: Iterable<JournalEvent>): RunView {
  const view = newRunView(run);
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
  foldRun(view, event, at);
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

function foldRun(view: RunView, event: JournalEvent, at: number): void {
  switch (event.type) {
    case 'run.started':
      startRun(view, event, at);
      return;
    case 'run.resumed':
      resumeRun(view, event, at);
      return;
    case 'iteration.started':
      startIteration(view, event, at);
      return;
    case 'decision':
      decideIteration(view, event, at);
      return;
    case 'paused':
      pauseRun(view, event.because, at);
      return;
    case 'unpaused':
      endWait(view, at);
      notice(view, at, 'goes on after the pause');
      return;
    case 'note':
      notice(view, at, `note: ${event.text}`);
      return;
    case 'notice':
      notice(view, at, event.text);
      return;
    case 'run.ended':
      endRun(view, event, at);
      return;
    case 'run.yielded':
      cutIteration(view, at);
      reopen(view);
      view.state = 'yielded';
      return;
    case 'run.abandoned':
      Object.assign(view, endOfProcess(view));
      return;
    case 'sandbox.ready':
    case 'sandbox.denied':
    case 'notified':
      return;
    default:
      // The event that began the iteration may be damaged.
      if (view.iterations.at(-1)?.iteration !== event.iteration)
        startIteration(view, { ...event, of: null, promptChars: 0 }, at);
      foldIteration(view, event, at);
  }
}

function startRun(view: RunView, event: EventOf<'run.started'>, at: number): void {
  const {
    version,
    cwd,
    branch = null,
    agent,
    agentVersion = null,
    command,
    task,
    promptFile = null,
    plan,
    pid,
  } = event;
  Object.assign(view, {
    version,
    cwd,
    branch,
    agent,
    agentVersion,
    command,
    task,
    promptFile,
    pid,
    startedAt: at,
  });
  view.limits = plan.limits;
  view.tasks = plan.completion.tasks ?? null;
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

function startIteration(view: RunView, event: Omit<EventOf<'iteration.started'>, 'type'>, at: number): void {
  stopAt(view, at);
  const { iteration, of, promptChars, promptStart = '', head = null, tree = head } = event;
  const place = { index: view.iterations.length, iteration, of, at };
  view.iteration = iteration;
  view.iterations.push({ ...newIteration(place, event.seq), promptChars, promptStart, from: tree });
}

/** Cuts an iteration that was never decided, and ends a wait. */
function stopAt(view: RunView, at: number): void {
  cutIteration(view, at);
  endWait(view, at);
}

function cutIteration(view: RunView, at: number): void {
  const last = view.iterations.at(-1);
  if (last?.mark === 'running') replaceLast(view, closeIteration(last, 'cut', at));
  view.tool = null;
}

function endWait(view: RunView, at: number): void {
  const last = view.iterations.at(-1);
  if (last?.wait && last.wait.ms === null)
    replaceLast(view, { ...last, wait: { ...last.wait, ms: at - last.wait.startedAt } });
  Object.assign(view, { state: 'going', waitUntil: null, waitFor: null });
}

function replaceLast(view: RunView, one: IterationView): void {
  view.iterations[view.iterations.length - 1] = { ...one, seq: view.seq };
}

/** Starts a wait without a known end. */
function pauseRun(view: RunView, because: string, at: number): void {
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
