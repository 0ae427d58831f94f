import type { Outcome } from '../core/outcome.ts';
import { addUsage } from '../core/turn.ts';
import type { EventOf, JournalEvent } from './events.ts';
import {
  type IterationView,
  type Mark,
  newIteration,
  newRunView,
  type RunView,
  type ToolView,
} from './run-view.ts';

const keptTools = 60;
const keptNotices = 50;
const keptText = 300;

/** The view of a run whose events are read already. */
export function foldEvents(run: string, events: Iterable<JournalEvent>): RunView {
  const view = newRunView(run);
  for (const event of events) addEvent(view, event);
  return view;
}

/** Adds the next event of the journal, in time that does not grow with what is there. */
export function addEvent(view: RunView, event: JournalEvent): void {
  const told = Date.parse(event.at);
  // A clock that was set back must not make anything end before it began.
  const at = Math.max(Number.isNaN(told) ? 0 : told, view.updatedAt ?? 0);
  // The time between the end of one process and the start of the next is not the loop's.
  const isOff = event.type === 'run.resumed' || event.type === 'run.abandoned';
  if (view.updatedAt !== null && !isOff) view.elapsedMs += at - view.updatedAt;
  view.updatedAt = at;
  view.seq = event.seq;
  try {
    apply(view, event, at);
  } catch {
    // Somebody edited the journal: the rest of it is still worth showing.
    view.damaged++;
  }
}

function apply(view: RunView, event: JournalEvent, at: number): void {
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
      decided(view, event, at);
      return;
    case 'paused':
      hold(view, event.because, at);
      return;
    case 'unpaused':
      goOn(view, at);
      notice(view, at, 'goes on after the pause');
      return;
    case 'notice':
      notice(view, at, event.text);
      return;
    case 'run.ended':
      endRun(view, event, at);
      return;
    case 'run.yielded':
      cut(view);
      view.state = 'yielded';
      return;
    case 'run.failed':
      fail(view, at, event.message);
      return;
    case 'prd.iteration':
      startStory(view, event);
      return;
    case 'prd.checked':
      checkStory(view, event);
      return;
    case 'run.abandoned':
      cut(view);
      view.state = 'abandoned';
      view.needs = { kind: 'look', text: 'the process of the loop died' };
      return;
    default:
      if ('iteration' in event) inIteration(view, event, at);
  }
}

type Inner = Exclude<
  Extract<JournalEvent, { iteration: number }>,
  { type: 'run.resumed' | 'run.yielded' | 'iteration.started' | 'prd.iteration' | 'prd.checked' | 'decision' }
>;

function inIteration(view: RunView, event: Inner, at: number): void {
  // A note is written before the iteration that reads it begins.
  if (event.type === 'note') {
    notice(view, at, `note: ${event.text}`);
    return;
  }
  const one = view.iterations.at(-1);
  if (one === undefined) return;
  one.seq = event.seq;
  switch (event.type) {
    case 'agent.started':
      one.agentStartedAt = at;
      return;
    case 'tool.started':
      startTool(view, one, event, at);
      return;
    case 'tool.ended':
      endTool(view, one, event, at);
      return;
    case 'todo':
      view.todo = event.items;
      return;
    case 'agent.ended':
      endAgent(view, one, event, at);
      return;
    case 'guardrail.started':
      one.guardrails.push({ ...runningCheck, command: event.command, startedAt: at });
      return;
    case 'guardrail.ended': {
      const running = one.guardrails.findLast(({ command, ok }) => command === event.command && ok === null);
      const { ok, timedOut, exitCode, ms, log } = event;
      if (running) Object.assign(running, { ok, timedOut, exitCode, ms, log });
      return;
    }
    case 'verify.ended': {
      const { command, ok, timedOut, exitCode, ms } = event;
      one.verify.push({ command, ok, timedOut, exitCode, ms, startedAt: at - ms, log: event.log ?? null });
      return;
    }
    case 'scm.ended':
      one.scm.push({ task: event.task, ok: event.ok, detail: event.detail });
      return;
    case 'verdict': {
      const { accepted, because, evidence } = event;
      one.verdict = { accepted, because, evidence };
      view.claims[accepted ? 'accepted' : 'rejected']++;
      return;
    }
  }
}

const runningCheck = { ok: null, timedOut: false, exitCode: null, ms: null, log: null };

function startRun(view: RunView, event: EventOf<'run.started'>, at: number): void {
  Object.assign(view, {
    version: event.version,
    cwd: event.cwd,
    agent: event.agent,
    agentVersion: event.agentVersion ?? null,
    command: event.command,
    task: event.task,
    promptFile: event.promptFile ?? null,
    limits: event.plan.limits,
    pid: event.pid,
    startedAt: at,
  });
}

function resumeRun(view: RunView, event: EventOf<'run.resumed'>, at: number): void {
  cut(view);
  goOn(view, at);
  Object.assign(view, { endedAt: null, outcome: null, exitCode: null, because: null, needs: null });
  view.pid = event.pid;
  view.limits = event.plan?.limits ?? view.limits;
  view.agent = event.agent ?? view.agent;
  view.agentVersion = event.agentVersion ?? view.agentVersion;
  notice(view, at, 'resumed');
}

function startIteration(view: RunView, event: EventOf<'iteration.started'>, at: number): void {
  cut(view);
  goOn(view, at);
  const { iteration, of, promptChars, promptStart = '', head = null } = event;
  const place = { index: view.iterations.length, iteration, of, at };
  view.iterations.push({ ...newIteration(place, event.seq), promptChars, promptStart, from: head });
}

function startStory(view: RunView, event: EventOf<'prd.iteration'>): void {
  view.stories = event.stories;
  // The task is a template with placeholders, the same for every PRD.
  view.task = event.about ?? view.task;
  const one = view.iterations.at(-1);
  if (one?.mark !== 'running') return;
  const { mode, story, counts } = event;
  one.seq = event.seq;
  one.prd = { mode, story, before: counts, after: null, reviewStatus: null, problems: [] };
}

function checkStory(view: RunView, event: EventOf<'prd.checked'>): void {
  view.stories = event.stories;
  const one = view.iterations.at(-1);
  if (!one?.prd) return;
  one.seq = event.seq;
  one.prd.after = event.counts;
  one.prd.problems = event.problems;
  one.prd.reviewStatus = event.stories.find(({ id }) => id === one.prd?.story)?.reviewStatus ?? null;
}

/** An iteration that was never decided is over as soon as something else begins. */
function cut(view: RunView): void {
  const one = view.iterations.at(-1);
  view.tool = null;
  if (one?.mark !== 'running') return;
  one.mark = 'cut';
  one.endedAt = view.updatedAt;
  one.seq = view.seq;
}

/** A pause is a wait without an end that anybody knows. */
function hold(view: RunView, because: string, at: number): void {
  const one = view.iterations.at(-1);
  // A session may be paused in the middle of a turn: that one runs on, or is never decided.
  if (one !== undefined && one.mark !== 'running') {
    one.wait ??= { startedAt: at, plannedMs: 0, ms: null };
    one.seq = view.seq;
  }
  view.state = 'waiting';
  view.waitFor = because;
  view.waitUntil = null;
  notice(view, at, because);
}

/** The wait before this moment is over. */
function goOn(view: RunView, at: number): void {
  const waited = view.iterations.at(-1);
  if (waited?.wait && waited.wait.ms === null) {
    waited.wait.ms = at - waited.wait.startedAt;
    waited.seq = view.seq;
  }
  view.state = 'going';
  view.waitUntil = null;
  view.waitFor = null;
}

function startTool(
  view: RunView,
  one: IterationView,
  { id, name, summary }: EventOf<'tool.started'>,
  at: number,
): void {
  const tool: ToolView = {
    id,
    name,
    summary: summary.slice(0, keptText),
    ok: null,
    startedAt: at,
    ms: null,
  };
  if (one.toolCalls !== null) one.toolCalls++;
  one.tools.push(tool);
  if (one.tools.length > keptTools) one.tools.shift();
  view.tool = tool;
}

function endTool(view: RunView, one: IterationView, event: EventOf<'tool.ended'>, at: number): void {
  if (!event.ok) one.toolErrors++;
  const tool = one.tools.findLast(({ id }) => id === event.id);
  if (tool) Object.assign(tool, { ok: event.ok, ms: at - tool.startedAt });
  if (view.tool?.id === event.id) view.tool = one.tools.findLast(({ ok }) => ok === null) ?? null;
}

function endAgent(view: RunView, one: IterationView, event: EventOf<'agent.ended'>, at: number): void {
  const { usage, progress, end, exitCode, ms, text, toolCalls, context } = event;
  view.tool = null;
  Object.assign(one, { end, exitCode, text, toolCalls, agentMs: ms, error: event.error ?? null });
  one.agentStartedAt ??= Math.max(one.startedAt, at - ms);
  one.commits = progress.commits;
  one.filesChanged = progress.filesChanged;
  one.files = progress.files ?? [];
  one.context = context ? { tokens: context.tokens, window: context.window ?? null } : null;
  if (usage === undefined) return;
  one.usage = usage;
  view.usage = addUsage(view.usage, usage);
}

function decided(view: RunView, event: EventOf<'decision'>, at: number): void {
  const one = view.iterations.at(-1);
  if (one === undefined || one.mark !== 'running') return;
  const { kind, because, outcome, head } = event;
  Object.assign(one, { seq: event.seq, endedAt: at, to: head ?? null });
  one.decision = { kind, because, outcome: outcome ?? null };
  one.mark = markOf(one);
  if (kind !== 'wait') return;
  const plannedMs = event.ms ?? 0;
  one.wait = { startedAt: at, plannedMs, ms: null };
  view.state = 'waiting';
  view.waitUntil = at + plannedMs;
  view.waitFor = because.text;
}

function markOf({ decision, verdict, end, guardrails }: IterationView): Mark {
  const outcome = decision?.outcome;
  if (outcome === 'PROMISE_ACCEPTED') return 'accepted';
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return 'needs-person';
  if (outcome === 'CANCELLED' || outcome === 'INTERRUPTED') return 'stopped';
  if (end === 'limited') return 'limited';
  if (end !== null && end !== 'finished') return 'failed';
  if (verdict?.accepted === false) return 'rejected';
  return guardrails.some(({ ok }) => ok === false) ? 'failed-checks' : 'went-on';
}

function endRun(view: RunView, event: EventOf<'run.ended'>, at: number): void {
  cut(view);
  goOn(view, at);
  const { outcome, exitCode, because } = event;
  Object.assign(view, { state: 'ended', endedAt: at, outcome, exitCode, because: because.text });
  view.needs = needsOf(outcome, because.text);
}

function fail(view: RunView, at: number, message: string): void {
  cut(view);
  goOn(view, at);
  Object.assign(view, { state: 'failed', endedAt: at, because: message });
  view.needs = { kind: 'look', text: message };
}

/** Who was stopped by a person, or is done, needs nobody. */
export function needsOf(outcome: Outcome, text: string): RunView['needs'] {
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return { kind: 'answer', text };
  const isOver = outcome === 'PROMISE_ACCEPTED' || outcome === 'CANCELLED' || outcome === 'INTERRUPTED';
  return isOver ? null : { kind: 'look', text };
}

function notice(view: RunView, at: number, text: string): void {
  view.notices.push({ at, text: text.slice(0, keptText) });
  if (view.notices.length > keptNotices) view.notices.shift();
}
