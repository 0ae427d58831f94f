import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody, JournalEvent } from '../store/events.ts';
import { addEvent, foldEvents } from './fold-events.ts';
import { newRunView, timeByKind } from './run-view.ts';

const start = Date.parse('2026-11-01T00:00:00.000Z');
const limits = {
  iterations: 10,
  wallMs: null,
  tokens: null,
  costUsd: 5,
  iterationTokens: null,
  iterationCostUsd: null,
  waitMs: 0,
  failures: 3,
  withoutProgress: 3,
  withoutTools: 0,
  sameError: 0,
};
const plan = { id: 'x', completion: {}, limits, minToolCalls: 1, countInPrompt: false };
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 1, costUsd: 0.5 };
const loop = {
  iteration: 2,
  feedback: [],
  toolCalls: 1,
  filesChanged: 1,
  usage,
  elapsedMs: 1,
  waitedMs: 0,
  failures: 0,
  overloads: 0,
  withoutProgress: 0,
  withoutTools: 0,
  lastError: null,
  sameError: 0,
  outcome: null,
};

/** Events one second apart, unless one says when. */
function journal(...bodies: (EventBody & { second?: number })[]): JournalEvent[] {
  return bodies.map(({ second, ...body }, index) => ({
    v: 1,
    seq: index + 1,
    at: new Date(start + (second ?? index) * 1000).toISOString(),
    ...(body as EventBody),
  }));
}

/** The same again, at the same times. */
function bodiesOf(events: readonly JournalEvent[], from: number): (EventBody & { second: number })[] {
  return events.slice(from).map((event) => ({ ...event, second: (Date.parse(event.at) - start) / 1000 }));
}

const runStarted: EventBody = {
  type: 'run.started',
  run: 'r',
  version: '1',
  pid: 1,
  cwd: '/tmp/x',
  agent: 'claude',
  command: 'claude',
  plan,
  task: 'Do it.',
  cli: [],
};
const begin = (iteration: number): EventBody => ({
  type: 'iteration.started',
  iteration,
  of: 10,
  promptChars: 5,
  head: `before${iteration}`,
});
const agentEnded = (iteration: number, more: object = {}): EventBody => ({
  type: 'agent.ended',
  iteration,
  end: 'finished',
  cause: 'exited',
  exitCode: 0,
  toolCalls: 2,
  ms: 900,
  usage,
  progress: { commits: 1, filesChanged: 2, files: ['a.ts'] },
  text: 'said',
  ...more,
});
const goOn = (iteration: number): EventBody => ({
  type: 'decision',
  iteration,
  kind: 'continue',
  because: { code: 'no-claim', text: 'no claim' },
  head: `after${iteration}`,
  loop,
});

describe('the view of a run', () => {
  it('has the figures of each iteration and their totals', () => {
    const view = foldEvents(
      'r',
      journal(
        runStarted,
        begin(1),
        { type: 'agent.started', iteration: 1, pid: 2, argv: [] },
        { type: 'tool.started', iteration: 1, id: 't', name: 'Bash', summary: 'ls' },
        { type: 'tool.ended', iteration: 1, id: 't', ok: false },
        agentEnded(1),
        { type: 'guardrail.started', iteration: 1, command: 'npm test' },
        {
          type: 'guardrail.ended',
          iteration: 1,
          command: 'npm test',
          ok: false,
          exitCode: 1,
          timedOut: false,
          ms: 1000,
          log: '.ralph/guardrail_1_npm-test.log',
          action: 'APPEND',
        },
        goOn(1),
        begin(2),
        agentEnded(2),
      ),
    );
    const [first, second] = view.iterations;
    expect(first).toMatchObject({
      mark: 'failed-checks',
      agentMs: 900,
      toolCalls: 2,
      toolErrors: 1,
      tools: [{ name: 'Bash', ok: false, ms: 1000 }],
      guardrails: [{ command: 'npm test', ok: false, ms: 1000, log: '.ralph/guardrail_1_npm-test.log' }],
      usage,
      commits: 1,
      filesChanged: 2,
      files: ['a.ts'],
      from: 'before1',
      to: 'after1',
    });
    expect(second).toMatchObject({ mark: 'running', usage });
    expect(view).toMatchObject({
      state: 'going',
      seq: 11,
      task: 'Do it.',
      usage: { inputTokens: 20, outputTokens: 10, cacheReadTokens: 200, cacheWriteTokens: 2, costUsd: 1 },
      elapsedMs: 10_000,
      limits: { costUsd: 5 },
    });
  });

  it('counts claims, and says what a person has to do at the end', () => {
    const evidence = [{ check: 'tool-calls', ok: false, detail: 'none' }];
    const view = foldEvents(
      'r',
      journal(
        runStarted,
        begin(1),
        agentEnded(1),
        { type: 'verdict', iteration: 1, accepted: false, because: 'no work', evidence },
        goOn(1),
        begin(2),
        agentEnded(2),
        { type: 'decision', iteration: 2, kind: 'stop', outcome: 'BLOCKED', because: blocked, loop },
        { type: 'run.ended', outcome: 'BLOCKED', exitCode: 4, because: blocked, iterations: 2, usage, ms: 5 },
      ),
    );
    expect(view.iterations.map(({ mark }) => mark)).toEqual(['rejected', 'needs-person']);
    expect(view.iterations[0]?.verdict).toEqual({ accepted: false, because: 'no work', evidence });
    expect(view).toMatchObject({
      state: 'ended',
      outcome: 'BLOCKED',
      claims: { accepted: 0, rejected: 1 },
      needs: { kind: 'answer', text: 'no key' },
    });
  });

  it('shows a limit as a wait of the iteration, and the try after it as another go with the same number', () => {
    const events = journal(
      runStarted,
      begin(1),
      agentEnded(1, { end: 'limited' }),
      {
        type: 'decision',
        iteration: 1,
        kind: 'wait',
        ms: 60_000,
        because: { code: 'usage-limit', text: 'limit' },
        loop,
      },
      { ...begin(1), second: 63 },
    );
    const waiting = foldEvents('r', events.slice(0, 4));
    expect(waiting).toMatchObject({ state: 'waiting', waitFor: 'limit', waitUntil: start + 63_000 });
    const view = foldEvents('r', events);
    expect(view.iterations.map(({ iteration, mark }) => [iteration, mark])).toEqual([
      [1, 'limited'],
      [1, 'running'],
    ]);
    expect(view.iterations[0]?.wait).toEqual({ startedAt: start + 3000, plannedMs: 60_000, ms: 60_000 });
    expect(view).toMatchObject({ state: 'going', waitFor: null });
    expect(timeByKind(view.iterations[0] ?? fail(), start)).toMatchObject({ agent: 900, waiting: 60_000 });
  });

  it('shows a pause as a wait without an end, which a wait before it runs into', () => {
    const decided: EventBody = {
      type: 'decision',
      iteration: 1,
      kind: 'continue',
      because: { code: 'no-claim', text: 'no claim' },
      loop,
    };
    const events = journal(
      ...[runStarted, begin(1), agentEnded(1), decided],
      { type: 'paused', because: 'paused by a person' },
      { type: 'unpaused', second: 64 },
      begin(2),
    );
    const paused = foldEvents('r', events.slice(0, 5));
    expect(paused).toMatchObject({ state: 'waiting', waitFor: 'paused by a person', waitUntil: null });
    const waiting = (now: number) => timeByKind(paused.iterations[0] ?? fail(), now).waiting;
    expect(waiting(start + 34_000)).toBe(30_000);
    const view = foldEvents('r', events);
    expect(view).toMatchObject({ state: 'going', waitFor: null });
    expect(view.iterations[0]?.wait).toEqual({ startedAt: start + 4000, plannedMs: 0, ms: 60_000 });
    const limited: EventBody = {
      ...decided,
      kind: 'wait',
      ms: 500,
      because: { code: 'usage-limit', text: 'x' },
    };
    const both = foldEvents(
      'r',
      journal(runStarted, begin(1), agentEnded(1), limited, ...bodiesOf(events, 4)),
    );
    expect(both.iterations[0]?.wait).toEqual({ startedAt: start + 3000, plannedMs: 500, ms: 61_000 });
  });

  it('leaves out the time in which no process of the run lived', () => {
    const view = foldEvents(
      'r',
      journal(
        runStarted,
        begin(1),
        { type: 'run.abandoned', swept: [], second: 1000 },
        { type: 'run.resumed', pid: 3, iteration: 1, cli: [], second: 2000 },
        { ...begin(1), second: 2001 },
      ),
    );
    expect(view.elapsedMs).toBe(2000);
    expect(view.iterations.map(({ mark }) => mark)).toEqual(['cut', 'running']);
    expect(view).toMatchObject({ state: 'going', needs: null, pid: 3 });
  });

  it('knows what an iteration of a PRD was for, and how the stories stood before and after it', () => {
    const story = (passes: boolean) => ({
      id: 'US-1',
      title: 'Sign in',
      priority: 1,
      dependsOn: [],
      passes,
      reviewStatus: passes ? ('approved' as const) : ('needs_review' as const),
      reviewCount: passes ? 1 : 0,
    });
    const counts = (done: number) => ({
      total: 1,
      done,
      needsReview: 1 - done,
      changesRequested: 0,
      open: 0,
    });
    const view = foldEvents(
      'r',
      journal(
        runStarted,
        begin(1),
        {
          type: 'prd.iteration',
          iteration: 1,
          mode: 'review',
          story: 'US-1',
          counts: counts(0),
          stories: [story(false)],
          about: 'PRD shop: Sign in by mail',
        },
        agentEnded(1),
        {
          type: 'prd.checked',
          iteration: 1,
          mode: 'review',
          ok: true,
          problems: [],
          undone: false,
          complete: true,
          counts: counts(1),
          stories: [story(true)],
        },
      ),
    );
    const [one] = view.iterations;
    expect(one?.prd).toEqual({
      mode: 'review',
      story: 'US-1',
      before: counts(0),
      after: counts(1),
      reviewStatus: 'approved',
      problems: [],
    });
    expect(view.stories).toEqual([story(true)]);
    expect(view.task).toBe('PRD shop: Sign in by mail');
    expect(timeByKind(one ?? fail(), start)).toMatchObject({ agent: 0, review: 900 });
  });

  it('never lets anything end before it began when the clock is set back', () => {
    const view = foldEvents(
      'r',
      journal(runStarted, { ...begin(1), second: 100 }, { ...goOn(1), second: 5 }),
    );
    const [one] = view.iterations;
    expect(one?.endedAt).toBe(one?.startedAt);
    expect(view.elapsedMs).toBe(100_000);
  });

  it('skips kinds that it does not know and counts events that make no sense', () => {
    const view = foldEvents('r', journal(runStarted, begin(1)));
    addEvent(view, { v: 1, seq: 3, at: 'never', type: 'from.the.future', iteration: 1 } as never);
    addEvent(view, { v: 1, seq: 4, at: 'never', type: 'agent.ended', iteration: 1 } as never);
    expect(view).toMatchObject({ seq: 4, damaged: 1, elapsedMs: 1000 });
  });

  it('survives any content in events of any kind', () => {
    const types = [
      ...['run.started', 'run.resumed', 'iteration.started', 'agent.started', 'tool.started', 'tool.ended'],
      ...['todo', 'agent.ended', 'guardrail.started', 'guardrail.ended', 'verify.ended', 'scm.ended', 'note'],
      ...['verdict', 'decision', 'notice', 'run.ended', 'run.yielded', 'run.failed', 'run.abandoned'],
    ];
    const event = fc.record({
      type: fc.constantFrom(...types),
      at: fc.oneof(
        fc.string(),
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
      iteration: fc.jsonValue(),
      id: fc.jsonValue(),
      text: fc.jsonValue(),
      usage: fc.jsonValue(),
      progress: fc.jsonValue(),
      plan: fc.jsonValue(),
      because: fc.jsonValue(),
      summary: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const view = newRunView('r');
        for (const [index, one] of events.entries()) addEvent(view, { v: 1, seq: index, ...one } as never);
        expect(JSON.parse(JSON.stringify(view))).toHaveProperty('run', 'r');
      }),
    );
  });

  it('keeps little of an iteration with very many tool calls', () => {
    const calls = Array.from({ length: 5000 }, (_, index): EventBody[] => [
      { type: 'tool.started', iteration: 1, id: `t${index}`, name: 'Bash', summary: 'x'.repeat(5000) },
      { type: 'tool.ended', iteration: 1, id: `t${index}`, ok: true },
    ]).flat();
    const view = foldEvents('r', journal(runStarted, begin(1), ...calls));
    expect(view.iterations[0]?.toolCalls).toBe(5000);
    expect(JSON.stringify(view).length).toBeLessThan(40_000);
  });
});

const blocked = { code: 'blocked', text: 'no key' } as const;

function fail(): never {
  throw new Error('there is no such iteration');
}
