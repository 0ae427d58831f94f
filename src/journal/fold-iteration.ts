import { limitWords } from '../core/limit-words.ts';
import { defaultReviewRules, type ReviewRules } from '../core/review/story.ts';
import { addUsage } from '../core/turn.ts';
import { type EventOf, type EventType, nothingToCommit } from './events.ts';
import { closeIteration, IterationView, type Mark, type RunView } from './run-view.ts';

/** Longest text of a tool call or a notice in a view. */
export const keptText = 300;
const keptTools = 60;

/** What an event of each type means for the view of its run; `at` is its time. */
export type Folds = {
  readonly [T in EventType]: (view: RunView, event: EventOf<T>, at: number) => void;
};

export function startIteration(
  view: RunView,
  event: Omit<EventOf<'iteration.started'>, 'type'>,
  at: number,
): void {
  stopAt(view, at);
  const { iteration, of, seq, promptStart = '', head = null, tree = head } = event;
  const one = new IterationView({ index: view.iterations.length, iteration, of, seq, startedAt: at });
  view.iteration = iteration;
  view.iterations.push(Object.assign(one, { promptStart, from: tree }));
}

/** Cuts an iteration that was never decided, and ends a wait. */
export function stopAt(view: RunView, at: number): void {
  cutIteration(view, at);
  endWait(view, at);
}

export function cutIteration(view: RunView, at: number): void {
  const last = view.iterations.at(-1);
  if (last?.mark === 'running') replaceLast(view, closeIteration(last, 'cut', at));
  view.tool = null;
}

export function endWait(view: RunView, at: number): void {
  const last = view.iterations.at(-1);
  if (last?.wait && last.wait.ms === null)
    replaceLast(view, { ...last, wait: { ...last.wait, ms: at - last.wait.startedAt } });
  Object.assign(view, { state: 'going', waitUntil: null, waitFor: null });
}

function replaceLast(view: RunView, one: IterationView): void {
  view.iterations[view.iterations.length - 1] = { ...one, seq: view.seq };
}

type InnerType = keyof typeof iterationFolds;

/** Returns the iteration of an event. Starts it if the event that began it is damaged. */
function iterationOf(view: RunView, event: EventOf<InnerType>, at: number): IterationView {
  if (view.iterations.at(-1)?.iteration !== event.iteration)
    startIteration(view, { ...event, of: null, promptChars: 0 }, at);
  const one = view.iterations.at(-1);
  if (one === undefined) throw new Error('an iteration was started and is not there');
  one.seq = event.seq;
  return one;
}

function ruleOptions({ skipReview, reviewCap }: ReviewRules): string[] {
  const cap = reviewCap === defaultReviewRules.reviewCap ? [] : ['--review-cap', String(reviewCap)];
  return skipReview ? ['--skip-review'] : cap;
}

export const iterationFolds = {
  'prd.iteration'(view, event, at) {
    const { mode, story, stories, counts, about, rules } = event;
    if (rules && view.iterations.length <= 1) view.prdOptions = [...view.prdOptions, ...ruleOptions(rules)];
    view.stories = stories;
    view.doneBefore ??= stories.flatMap(({ id, passes }) => (passes ? [id] : []));
    // The task is a template with placeholders, the same for every PRD.
    view.task = about ?? view.task;
    iterationOf(view, event, at).prd = {
      ...{ mode, story, before: counts, after: null },
      ...{ reviewStatus: null, problems: [], undone: false },
    };
  },
  'prd.checked'(view, event, at) {
    const { stories, counts: after, problems, undone } = event;
    const { prd } = iterationOf(view, event, at);
    view.stories = stories;
    if (prd === null) return;
    const reviewStatus = stories.find(({ id }) => id === prd.story)?.reviewStatus ?? null;
    Object.assign(prd, { after, problems, undone, reviewStatus });
  },
  'agent.started'(view, event, at) {
    iterationOf(view, event, at).agentStartedAt = at;
  },
  'tool.started'(view, event, at) {
    const { id, name, summary } = event;
    const one = iterationOf(view, event, at);
    view.tool = { id, name, summary: summary.slice(0, keptText), ok: null, startedAt: at, ms: null };
    if (one.toolCalls !== null) one.toolCalls++;
    one.tools.push(view.tool);
    if (one.tools.length > keptTools) one.tools.shift();
  },
  'tool.ended'(view, event, at) {
    const { id, ok } = event;
    const one = iterationOf(view, event, at);
    if (!ok) one.toolErrors++;
    const tool = one.tools.findLast((other) => other.id === id);
    if (tool) Object.assign(tool, { ok, ms: at - tool.startedAt });
    if (view.tool?.id === id) view.tool = one.tools.findLast((other) => other.ok === null) ?? null;
  },
  todo(view, event, at) {
    iterationOf(view, event, at);
    view.todo = event.items;
  },
  'agent.ended'(view, event, at) {
    const { usage, end, exitCode, ms, text, toolCalls, context } = event;
    const { model = null, error = null, limit = null } = event;
    const { commits, filesChanged } = event.progress;
    const one = iterationOf(view, event, at);
    view.tool = null;
    // The event counts calls that succeeded; if each call is recorded, the view counts them all.
    const calls = toolCalls === null ? null : Math.max(toolCalls, one.toolCalls ?? 0);
    Object.assign(one, { end, model, exitCode, text, toolCalls: calls, agentMs: ms, error, limit });
    Object.assign(one, { commits, filesChanged });
    one.agentStartedAt ??= Math.max(one.startedAt, at - ms);
    one.context = context ? { tokens: context.tokens, window: context.window ?? null } : null;
    if (usage === undefined) return;
    one.usage = usage;
    view.usage = addUsage(view.usage, usage);
  },
  'guardrail.started'(view, event, at) {
    const check = { ok: null, timedOut: false, exitCode: null, ms: null, log: null };
    iterationOf(view, event, at).guardrails.push({ ...check, command: event.command, startedAt: at });
  },
  'guardrail.ended'(view, event, at) {
    const { command, ok, timedOut, exitCode, ms, log } = event;
    const { guardrails } = iterationOf(view, event, at);
    const check = guardrails.findLast((other) => other.command === command && other.ok === null);
    if (check) Object.assign(check, { ok, timedOut, exitCode, ms, log });
  },
  'verify.ended'(view, event, at) {
    const { command, ok, timedOut, exitCode, ms, log = null } = event;
    const check = { command, ok, timedOut, exitCode, ms, startedAt: at - ms, log };
    iterationOf(view, event, at).verify.push(check);
  },
  'scm.ended'(view, event, at) {
    const isCommit = /^commit\b/.test(event.task) && !event.detail.startsWith(nothingToCommit);
    if (event.ok && isCommit) iterationOf(view, event, at).commits++;
  },
  'guard.denied'(view, event, at) {
    const { tool, what, category, reason } = event;
    iterationOf(view, event, at).denials.push({ tool, what, category, reason });
  },
  verdict(view, event, at) {
    const { accepted, because, evidence } = event;
    iterationOf(view, event, at).verdict = { accepted, because, evidence };
    view.claims[accepted ? 'accepted' : 'rejected']++;
  },
  decision(view, event, at) {
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
  },
} satisfies Partial<Folds>;

function markOf({ decision, verdict, end, limit, guardrails }: IterationView): Mark {
  const outcome = decision?.outcome;
  if (outcome === 'PROMISE_ACCEPTED') return 'accepted';
  if (outcome === 'BLOCKED' || outcome === 'NEEDS_DECISION') return 'needs-person';
  if (outcome === 'CANCELLED' || outcome === 'INTERRUPTED') return 'stopped';
  if (end === 'limited') return limitWords[limit?.kind ?? 'usage'].mark;
  if (end !== null && end !== 'finished') return 'failed';
  if (verdict?.accepted === false) return 'rejected';
  return guardrails.some(({ ok }) => ok === false) ? 'failed-checks' : 'went-on';
}
