import { addUsage } from '../core/turn.ts';
import type { EventOf, JournalEvent } from './events.ts';
import type { IterationView, Mark, RunView } from './run-view.ts';

/** Longest text of a tool call or a notice in a view. */
export const keptText = 300;
const keptTools = 60;

/** Events within an iteration. */
type InnerEvent = Exclude<
  Extract<JournalEvent, { iteration: number }>,
  { type: 'run.resumed' | 'run.yielded' | 'iteration.started' | 'note' | 'decision' }
>;

/** Adds an event to the last iteration. */
export function foldIteration(view: RunView, event: InnerEvent, at: number): void {
  const one = view.iterations.at(-1);
  if (one === undefined) return;
  one.seq = event.seq;
  switch (event.type) {
    case 'prd.iteration':
      startStory(view, one, event);
      return;
    case 'prd.checked':
      checkStory(view, one, event);
      return;
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
      const { command, ok, timedOut, exitCode, ms, log } = event;
      const check = one.guardrails.findLast((other) => other.command === command && other.ok === null);
      if (check) Object.assign(check, { ok, timedOut, exitCode, ms, log });
      return;
    }
    case 'verify.ended': {
      const { command, ok, timedOut, exitCode, ms, log = null } = event;
      one.verify.push({ command, ok, timedOut, exitCode, ms, startedAt: at - ms, log });
      return;
    }
    case 'scm.ended':
      one.scm.push({ task: event.task, ok: event.ok, detail: event.detail });
      return;
    case 'guard.denied': {
      const { tool, what, category, reason } = event;
      one.denials.push({ tool, what, category, reason });
      return;
    }
    case 'verdict': {
      const { accepted, because, evidence } = event;
      one.verdict = { accepted, because, evidence };
      view.claims[accepted ? 'accepted' : 'rejected']++;
      return;
    }
  }
}

const runningCheck = { ok: null, timedOut: false, exitCode: null, ms: null, log: null };

function startStory(view: RunView, one: IterationView, event: EventOf<'prd.iteration'>): void {
  const { mode, story, stories, counts, about } = event;
  view.stories = stories;
  view.doneBefore ??= stories.flatMap(({ id, passes }) => (passes ? [id] : []));
  // The task is a template with placeholders, the same for every PRD.
  view.task = about ?? view.task;
  one.prd = { mode, story, before: counts, after: null, reviewStatus: null, problems: [], undone: false };
}

function checkStory(view: RunView, one: IterationView, event: EventOf<'prd.checked'>): void {
  const { stories, counts: after, problems, undone } = event;
  view.stories = stories;
  if (one.prd === null) return;
  const reviewStatus = stories.find(({ id }) => id === one.prd?.story)?.reviewStatus ?? null;
  Object.assign(one.prd, { after, problems, undone, reviewStatus });
}

function startTool(view: RunView, one: IterationView, event: EventOf<'tool.started'>, at: number): void {
  const { id, name, summary } = event;
  view.tool = { id, name, summary: summary.slice(0, keptText), ok: null, startedAt: at, ms: null };
  if (one.toolCalls !== null) one.toolCalls++;
  one.tools.push(view.tool);
  if (one.tools.length > keptTools) one.tools.shift();
}

function endTool(view: RunView, one: IterationView, { id, ok }: EventOf<'tool.ended'>, at: number): void {
  if (!ok) one.toolErrors++;
  const tool = one.tools.findLast((other) => other.id === id);
  if (tool) Object.assign(tool, { ok, ms: at - tool.startedAt });
  if (view.tool?.id === id) view.tool = one.tools.findLast((other) => other.ok === null) ?? null;
}

function endAgent(view: RunView, one: IterationView, event: EventOf<'agent.ended'>, at: number): void {
  const { usage, progress, end, exitCode, ms, text, toolCalls, context, error = null } = event;
  view.tool = null;
  // The event counts calls that succeeded; if each call is recorded, the view counts them all.
  const calls = toolCalls === null ? null : Math.max(toolCalls, one.toolCalls ?? 0);
  Object.assign(one, { end, exitCode, text, toolCalls: calls, agentMs: ms, error });
  one.agentStartedAt ??= Math.max(one.startedAt, at - ms);
  one.commits = progress.commits;
  one.filesChanged = progress.filesChanged;
  one.files = progress.files ?? [];
  one.context = context ? { tokens: context.tokens, window: context.window ?? null } : null;
  if (usage === undefined) return;
  one.usage = usage;
  view.usage = addUsage(view.usage, usage);
}

export function decideIteration(view: RunView, event: EventOf<'decision'>, at: number): void {
  const { iteration, kind, because, outcome = null, head = null, tree = head, ms = 0, loop, seq } = event;
  view.iteration = Math.max(view.iteration, iteration);
  // A run that came here from another machine has used some already.
  view.usage = loop.usage;
  // Acceptance counts from here on, even if the process dies before it writes the end.
  if (outcome === 'PROMISE_ACCEPTED') Object.assign(view, { outcome, exitCode: 0, because: because.text });
  const one = view.iterations.at(-1);
  if (one?.iteration !== iteration || one.mark !== 'running') return;
  Object.assign(one, { seq, endedAt: at, to: tree, decision: { kind, because, outcome } });
  one.mark = markOf(one);
  if (kind !== 'wait') return;
  one.wait = { startedAt: at, plannedMs: ms, ms: null };
  Object.assign(view, { state: 'waiting', waitUntil: at + ms, waitFor: because.text });
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
