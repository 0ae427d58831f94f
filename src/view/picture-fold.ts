import type { Outcome } from '../core/outcome.ts';
import { addUsage } from '../core/turn.ts';
import type { EventOf, JournalEvent } from '../store/events.ts';
import type { IterationPicture, Mark, Picture, ToolPicture } from './picture.ts';
import { newIteration, newPicture } from './picture-new.ts';

export { newPicture };

const keptTools = 60;
const keptNotices = 50;
const keptText = 300;

/** The picture of a run whose events are read already. */
export function pictureOf(run: string, events: Iterable<JournalEvent>): Picture {
  const picture = newPicture(run);
  for (const event of events) addEvent(picture, event);
  return picture;
}

/** Adds the next event of the journal, in time that does not grow with what is there. */
export function addEvent(picture: Picture, event: JournalEvent): void {
  const told = Date.parse(event.at);
  // A clock that was set back must not make anything end before it began.
  const at = Math.max(Number.isNaN(told) ? 0 : told, picture.updatedAt ?? 0);
  // The time between the end of one process and the start of the next is not the loop's.
  const isOff = event.type === 'run.resumed' || event.type === 'run.abandoned';
  if (picture.updatedAt !== null && !isOff) picture.elapsedMs += at - picture.updatedAt;
  picture.updatedAt = at;
  picture.seq = event.seq;
  try {
    apply(picture, event, at);
  } catch {
    // Somebody edited the journal: the rest of it is still worth showing.
    picture.damaged++;
  }
}

function apply(picture: Picture, event: JournalEvent, at: number): void {
  switch (event.type) {
    case 'run.started':
      startRun(picture, event, at);
      return;
    case 'run.resumed':
      resumeRun(picture, event, at);
      return;
    case 'iteration.started':
      startIteration(picture, event, at);
      return;
    case 'decision':
      decided(picture, event, at);
      return;
    case 'paused':
      hold(picture, event.because, at);
      return;
    case 'unpaused':
      goOn(picture, at);
      notice(picture, at, 'goes on after the pause');
      return;
    case 'notice':
      notice(picture, at, event.text);
      return;
    case 'run.ended':
      endRun(picture, event, at);
      return;
    case 'run.yielded':
      cut(picture);
      picture.state = 'yielded';
      return;
    case 'run.failed':
      fail(picture, at, event.message);
      return;
    case 'prd.iteration':
      startStory(picture, event);
      return;
    case 'prd.checked':
      checkStory(picture, event);
      return;
    case 'run.abandoned':
      cut(picture);
      picture.state = 'abandoned';
      picture.needs = { kind: 'look', text: 'the process of the loop died' };
      return;
    default:
      if ('iteration' in event) inIteration(picture, event, at);
  }
}

type Inner = Exclude<
  Extract<JournalEvent, { iteration: number }>,
  { type: 'run.resumed' | 'run.yielded' | 'iteration.started' | 'prd.iteration' | 'prd.checked' | 'decision' }
>;

function inIteration(picture: Picture, event: Inner, at: number): void {
  // A note is written before the iteration that reads it begins.
  if (event.type === 'note') {
    notice(picture, at, `note: ${event.text}`);
    return;
  }
  const one = picture.iterations.at(-1);
  if (one === undefined) return;
  one.seq = event.seq;
  switch (event.type) {
    case 'agent.started':
      one.agentStartedAt = at;
      return;
    case 'tool.started':
      startTool(picture, one, event, at);
      return;
    case 'tool.ended':
      endTool(picture, one, event, at);
      return;
    case 'todo':
      picture.todo = event.items;
      return;
    case 'agent.ended':
      endAgent(picture, one, event, at);
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
      picture.claims[accepted ? 'accepted' : 'rejected']++;
      return;
    }
  }
}

const runningCheck = { ok: null, timedOut: false, exitCode: null, ms: null, log: null };

function startRun(picture: Picture, event: EventOf<'run.started'>, at: number): void {
  Object.assign(picture, {
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

function resumeRun(picture: Picture, event: EventOf<'run.resumed'>, at: number): void {
  cut(picture);
  goOn(picture, at);
  Object.assign(picture, { endedAt: null, outcome: null, exitCode: null, because: null, needs: null });
  picture.pid = event.pid;
  picture.limits = event.plan?.limits ?? picture.limits;
  picture.agent = event.agent ?? picture.agent;
  picture.agentVersion = event.agentVersion ?? picture.agentVersion;
  notice(picture, at, 'resumed');
}

function startIteration(picture: Picture, event: EventOf<'iteration.started'>, at: number): void {
  cut(picture);
  goOn(picture, at);
  const { iteration, of, promptChars, promptStart = '', head = null } = event;
  const place = { index: picture.iterations.length, iteration, of, at };
  picture.iterations.push({ ...newIteration(place, event.seq), promptChars, promptStart, from: head });
}

function startStory(picture: Picture, event: EventOf<'prd.iteration'>): void {
  picture.stories = event.stories;
  // The task is a template with placeholders, the same for every PRD.
  picture.task = event.about ?? picture.task;
  const one = picture.iterations.at(-1);
  if (one?.mark !== 'running') return;
  const { mode, story, counts } = event;
  one.seq = event.seq;
  one.prd = { mode, story, before: counts, after: null, reviewStatus: null, problems: [] };
}

function checkStory(picture: Picture, event: EventOf<'prd.checked'>): void {
  picture.stories = event.stories;
  const one = picture.iterations.at(-1);
  if (!one?.prd) return;
  one.seq = event.seq;
  one.prd.after = event.counts;
  one.prd.problems = event.problems;
  one.prd.reviewStatus = event.stories.find(({ id }) => id === one.prd?.story)?.reviewStatus ?? null;
}

/** An iteration that was never decided is over as soon as something else begins. */
function cut(picture: Picture): void {
  const one = picture.iterations.at(-1);
  picture.tool = null;
  if (one?.mark !== 'running') return;
  one.mark = 'cut';
  one.endedAt = picture.updatedAt;
  one.seq = picture.seq;
}

/** A pause is a wait without an end that anybody knows. */
function hold(picture: Picture, because: string, at: number): void {
  const one = picture.iterations.at(-1);
  // A session may be paused in the middle of a turn: that one runs on, or is never decided.
  if (one !== undefined && one.mark !== 'running') {
    one.wait ??= { startedAt: at, plannedMs: 0, ms: null };
    one.seq = picture.seq;
  }
  picture.state = 'waiting';
  picture.waitFor = because;
  picture.waitUntil = null;
  notice(picture, at, because);
}

/** The wait before this moment is over. */
function goOn(picture: Picture, at: number): void {
  const waited = picture.iterations.at(-1);
  if (waited?.wait && waited.wait.ms === null) {
    waited.wait.ms = at - waited.wait.startedAt;
    waited.seq = picture.seq;
  }
  picture.state = 'going';
  picture.waitUntil = null;
  picture.waitFor = null;
}

function startTool(
  picture: Picture,
  one: IterationPicture,
  { id, name, summary }: EventOf<'tool.started'>,
  at: number,
): void {
  const tool: ToolPicture = {
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
  picture.tool = tool;
}

function endTool(picture: Picture, one: IterationPicture, event: EventOf<'tool.ended'>, at: number): void {
  if (!event.ok) one.toolErrors++;
  const tool = one.tools.findLast(({ id }) => id === event.id);
  if (tool) Object.assign(tool, { ok: event.ok, ms: at - tool.startedAt });
  if (picture.tool?.id === event.id) picture.tool = one.tools.findLast(({ ok }) => ok === null) ?? null;
}

function endAgent(picture: Picture, one: IterationPicture, event: EventOf<'agent.ended'>, at: number): void {
  const { usage, progress, end, exitCode, ms, text, toolCalls, context } = event;
  picture.tool = null;
  Object.assign(one, { end, exitCode, text, toolCalls, agentMs: ms, error: event.error ?? null });
  one.agentStartedAt ??= Math.max(one.startedAt, at - ms);
  one.commits = progress.commits;
  one.filesChanged = progress.filesChanged;
  one.files = progress.files ?? [];
  one.context = context ? { tokens: context.tokens, window: context.window ?? null } : null;
  if (usage === undefined) return;
  one.usage = usage;
  picture.usage = addUsage(picture.usage, usage);
}

function decided(picture: Picture, event: EventOf<'decision'>, at: number): void {
  const one = picture.iterations.at(-1);
  if (one === undefined || one.mark !== 'running') return;
  const { kind, because, outcome, head } = event;
  Object.assign(one, { seq: event.seq, endedAt: at, to: head ?? null });
  one.decision = { kind, because, outcome: outcome ?? null };
  one.mark = markOf(one);
  if (kind !== 'wait') return;
  const plannedMs = event.ms ?? 0;
  one.wait = { startedAt: at, plannedMs, ms: null };
  picture.state = 'waiting';
  picture.waitUntil = at + plannedMs;
  picture.waitFor = because.text;
}

function markOf({ decision, verdict, end, guardrails }: IterationPicture): Mark {
  const outcome = decision?.outcome;
  if (outcome === 'PROMISE_ACCEPTED') return 'accepted';
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return 'needs-person';
  if (outcome === 'CANCELLED' || outcome === 'INTERRUPTED') return 'stopped';
  if (end === 'limited') return 'limited';
  if (end !== null && end !== 'finished') return 'failed';
  if (verdict?.accepted === false) return 'rejected';
  return guardrails.some(({ ok }) => ok === false) ? 'failed-checks' : 'went-on';
}

function endRun(picture: Picture, event: EventOf<'run.ended'>, at: number): void {
  cut(picture);
  goOn(picture, at);
  const { outcome, exitCode, because } = event;
  Object.assign(picture, { state: 'ended', endedAt: at, outcome, exitCode, because: because.text });
  picture.needs = needsOf(outcome, because.text);
}

function fail(picture: Picture, at: number, message: string): void {
  cut(picture);
  goOn(picture, at);
  Object.assign(picture, { state: 'failed', endedAt: at, because: message });
  picture.needs = { kind: 'look', text: message };
}

/** Who was stopped by a person, or is done, needs nobody. */
export function needsOf(outcome: Outcome, text: string): Picture['needs'] {
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return { kind: 'answer', text };
  const isOver = outcome === 'PROMISE_ACCEPTED' || outcome === 'CANCELLED' || outcome === 'INTERRUPTED';
  return isOver ? null : { kind: 'look', text };
}

function notice(picture: Picture, at: number, text: string): void {
  picture.notices.push({ at, text: text.slice(0, keptText) });
  if (picture.notices.length > keptNotices) picture.notices.shift();
}
