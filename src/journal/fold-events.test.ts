import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aPlan, aSavedLoop } from '../../test/core/loop-examples.ts';
import { readEventLines } from './event-lines.ts';
import { type EventBody, type JournalEvent, readEvent } from './events.ts';
import { abandoned, foldEvents } from './fold-events.ts';
import { timeByKind } from './run-view.ts';

const start = Date.parse('2026-11-01T00:00:00.000Z');
const plan = aPlan({ costUsd: 5 });
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 1, costUsd: 0.5 };
const loop = aSavedLoop({ iteration: 2, toolCalls: 1, filesChanged: 1, usage, elapsedMs: 1 });

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
const agentStarted: EventBody = { type: 'agent.started', iteration: 1, pid: 2, argv: [] };
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
      [1, 'usage-limit'],
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

  it('needs nobody where a supervisor goes on with a run whose process died', () => {
    const died: EventBody = { type: 'run.abandoned', swept: [] };
    const yielded: EventBody = { type: 'run.yielded', iteration: 1 };
    const view = foldEvents('r', journal(runStarted, begin(1), died, goOn(1), yielded));
    expect(view).toMatchObject({ state: 'yielded', needs: null, outcome: null, endedAt: null });
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
      undone: false,
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

  it('takes a claim as accepted from the decision on, also if the process dies before it writes the end', () => {
    const accepted: EventBody = {
      type: 'decision',
      iteration: 1,
      kind: 'stop',
      outcome: 'PROMISE_ACCEPTED',
      because: { code: 'claim-accepted', text: 'shown' },
      loop,
    };
    const events = journal(runStarted, begin(1), agentEnded(1), accepted, {
      type: 'run.abandoned',
      swept: [],
    });
    const end = { state: 'ended', outcome: 'PROMISE_ACCEPTED', exitCode: 0, because: 'shown', needs: null };
    expect(foldEvents('r', events)).toMatchObject(end);
    expect(abandoned(foldEvents('r', events.slice(0, 4)))).toMatchObject(end);
  });

  it('cuts what a killed process was doing at its last event, and leaves the view that it is given as it is', () => {
    const view = foldEvents('r', journal(runStarted, begin(1), agentStarted));
    const killed = abandoned(view);
    expect(killed).toMatchObject({ state: 'abandoned', needs: { kind: 'look' } });
    expect(killed.iterations).toMatchObject([{ mark: 'cut', endedAt: start + 2000, agentMs: 0 }]);
    expect(view).toMatchObject({ state: 'going', iterations: [{ mark: 'running', endedAt: null }] });
  });

  it('has the sum of the last decision, and what was spent since', () => {
    const carried = { ...loop, usage: { ...usage, costUsd: 3 } };
    const decision = { ...goOn(7), loop: carried } as EventBody;
    const view = foldEvents('r', journal(runStarted, decision, begin(8), agentEnded(8)));
    expect(view).toMatchObject({ iteration: 8, usage: { costUsd: 3.5 } });
  });

  it('waits for its supervisor between two iterations, and the time until then is not its own', () => {
    const events = journal(
      ...[runStarted, begin(1), agentEnded(1), goOn(1)],
      { type: 'run.yielded', iteration: 1 },
      { type: 'run.resumed', pid: 3, iteration: 2, cli: [], second: 900 },
      { ...begin(2), second: 901 },
    );
    expect(foldEvents('r', events.slice(0, 5))).toMatchObject({
      state: 'yielded',
      outcome: null,
      needs: null,
    });
    expect(foldEvents('r', events)).toMatchObject({ state: 'going', elapsedMs: 5000 });
  });

  it('counts a wait that its supervisor serves between two processes, and not what comes after it', () => {
    const waits = { ...goOn(1), kind: 'wait', ms: 60_000 } as EventBody;
    const view = foldEvents(
      'r',
      journal(
        ...[runStarted, begin(1), agentEnded(1), waits],
        { type: 'run.yielded', iteration: 1 },
        { type: 'run.resumed', pid: 3, iteration: 2, cli: [], second: 900 },
        { ...begin(2), second: 901 },
      ),
    );
    expect(view).toMatchObject({ elapsedMs: 64_000, iterations: [{ wait: { ms: 60_000 } }, {}] });
  });

  it('finds the iteration of an event by its number where the beginning of it is missing', () => {
    const view = foldEvents('r', journal(runStarted, begin(1), agentEnded(2), goOn(2)));
    expect(view.iterations.map(({ iteration, mark }) => [iteration, mark])).toEqual([
      [1, 'cut'],
      [2, 'went-on'],
    ]);
  });

  it('never fails on what a reader lets through, in any order', () => {
    const notice: EventBody = { type: 'notice', text: 'x' };
    const bodies = [
      runStarted,
      begin(1),
      begin(2),
      agentStarted,
      agentEnded(1),
      agentEnded(2),
      goOn(1),
      notice,
    ];
    const type = fc.constantFrom(...bodies.map((body) => body.type), 'run.ended', 'verdict', 'todo');
    const valid = fc.constantFrom(...bodies);
    const broken = fc.record({ type, iteration: fc.jsonValue(), text: fc.jsonValue(), plan: fc.jsonValue() });
    const date = fc.oneof(fc.string(), fc.constant('2026-11-01T00:00:00.000Z'));
    const line = fc
      .tuple(fc.oneof(valid, broken), date)
      .map(([body, at]) => JSON.stringify({ v: 1, seq: 1, at, ...body }));
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string())), (lines) => {
        const { events } = readEventLines(lines, readEvent);
        expect(JSON.parse(JSON.stringify(abandoned(foldEvents('r', events))))).toHaveProperty('run', 'r');
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
