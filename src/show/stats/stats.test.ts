import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody, JournalEvent } from '../../journal/events.ts';
import { abandoned, foldEvents } from '../../journal/fold-events.ts';
import type { StoryState } from '../../journal/loop-schemas.ts';
import type { RunView } from '../../journal/run-view.ts';
import { reportMarkdown } from '../report/report-md.ts';
import { createStyle } from '../terminal/style.ts';
import { statsOf } from './stats.ts';
import { statsText } from './stats-text.ts';

const start = Date.parse('2026-11-01T00:00:00.000Z');
const style = createStyle({ env: {}, isTTY: false });
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 1.5 };
const progress = { commits: 0, filesChanged: 2 };

function viewOf(run: string, bodies: readonly EventBody[]): RunView {
  const events = bodies.map(
    (body, index): JournalEvent => ({
      v: 1,
      seq: index + 1,
      at: new Date(start + index * 1000).toISOString(),
      ...body,
    }),
  );
  return foldEvents(run, events);
}

function go(iteration: number, claim: { ok: boolean; text?: string } | null): EventBody[] {
  const { ok = true, text = 'exit code 1' } = claim ?? {};
  const command = 'npm test';
  return [
    { type: 'iteration.started', iteration, of: 9, promptChars: 1 },
    {
      type: 'agent.ended',
      iteration,
      end: 'finished',
      cause: 'exited',
      exitCode: 0,
      toolCalls: 2,
      ms: 500,
      usage,
      progress,
      text,
    },
    { type: 'guardrail.started', iteration, command },
    {
      type: 'guardrail.ended',
      iteration,
      command,
      ok,
      exitCode: 1,
      timedOut: false,
      ms: 20,
      log: 'x',
      action: 'APPEND',
    },
    ...(claim === null
      ? []
      : [
          {
            type: 'verdict' as const,
            iteration,
            accepted: ok,
            because: text,
            evidence: [
              { check: 'turn', ok: true, detail: text },
              { check: 'guardrail: npm test', ok, detail: text },
            ],
          },
        ]),
  ];
}

const ended = (outcome: 'PROMISE_ACCEPTED' | 'STUCK', iterations: number): EventBody => ({
  type: 'run.ended',
  outcome,
  exitCode: 0,
  because: { code: 'claim-accepted', text: 'x' },
  iterations,
  usage: { ...usage, costUsd: iterations * 1.5 },
  ms: 1,
});

const counts = { total: 2, done: 0, inReview: 0, needsFix: 0, pending: 2 } as never;
const stories = (...done: boolean[]): StoryState[] =>
  done.map((passes, index) => ({
    id: `S${index + 1}`,
    title: 'x',
    priority: 1,
    dependsOn: [],
    passes,
    reviewStatus: null,
    reviewCount: 0,
  }));
type Story = { mode: 'implement' | 'review'; story: string };
const forStory = (iteration: number, { mode, story }: Story, list: StoryState[]): EventBody => ({
  type: 'prd.iteration',
  iteration,
  mode,
  story,
  counts,
  stories: list,
});

describe('statsOf', () => {
  it('counts what failed runs cost to what an accepted task costs', () => {
    const good = viewOf('a', [...go(1, { ok: false }), ...go(2, { ok: true }), ended('PROMISE_ACCEPTED', 2)]);
    const bad = viewOf('b', [...go(1, null), ended('STUCK', 1)]);
    expect(statsOf([good, bad], start)).toMatchObject({
      runs: 2,
      outcomes: { PROMISE_ACCEPTED: 1, STUCK: 1 },
      iterations: 3,
      toolCalls: 6,
      acceptedTasks: 1,
      costPerAcceptedTask: 4.5,
      claims: { accepted: 1, rejected: 1 },
      rejectedBy: { 'guardrail: npm test': 1 },
      time: { agent: 1500, checks: 60 },
      guardrails: [{ command: 'npm test', passed: 2, failed: 1, ms: 60 }],
    });
  });

  it('counts the stories that a run got done, and the reviews of each', () => {
    const run = viewOf('a', [
      forStory(1, { mode: 'implement', story: 'S2' }, stories(true, false, false)),
      forStory(2, { mode: 'review', story: 'S2' }, stories(true, false, false)),
      forStory(3, { mode: 'review', story: 'S2' }, stories(true, false, false)),
      forStory(4, { mode: 'review', story: 'S3' }, stories(true, true, true)),
    ]);
    expect(statsOf([run], start)).toMatchObject({
      acceptedTasks: 2,
      costPerAcceptedTask: null,
      reviews: { stories: 2, reviews: 3, perStory: 1.5 },
    });
  });

  it('is all zeros for no run at all', () => {
    expect(statsOf([], start)).toMatchObject({ runs: 0, iterations: 0, costPerAcceptedTask: null });
  });
});

describe('statsText', () => {
  it('says the main figures in words', () => {
    const run = viewOf('a', [...go(1, { ok: false }), ...go(2, { ok: true }), ended('PROMISE_ACCEPTED', 2)]);
    const text = statsText(statsOf([run], start), style);
    expect(text).toContain('$3.00, $3.00 for each accepted task');
    expect(text).toContain('1 accepted, 1 rejected');
    expect(text).toContain('npm test: 1 passed, 1 failed, 20ms on average');
  });
});

describe('reportMarkdown', () => {
  it('has the outcome, the evidence and each iteration', () => {
    const run = viewOf('a', [...go(1, { ok: false }), ...go(2, { ok: true }), ended('PROMISE_ACCEPTED', 2)]);
    const text = reportMarkdown(run, start);
    expect(text).toContain('## ralph: PROMISE_ACCEPTED');
    expect(text).toContain('| 1 | **rejected** | `turn` | ✅ `exit code 1` |');
    expect(text).toContain('|  |  | `guardrail: npm test` | ❌ `exit code 1` |');
    expect(text).toMatch(/\| 2 \| \S+ \| \S+ \| \$1\.50 \| 2 \| 2 \| ✅ \| `exit code 1` \|/);
  });

  it('keeps its form whatever an agent writes', () => {
    const hostile = fc
      .array(
        fc.constantFrom('a', '|', '`', '``', '\n', '\r', '<img src=x>', '@you', '](x)', '\\', '\x1b[2J', ' '),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(hostile, (text) => {
        const markdown = reportMarkdown(viewOf('a', go(1, { ok: false, text })), start);
        const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
        expect(rows).toHaveLength(2 + 7 + 2 + 2 + 2 + 1);
        expect(markdown).not.toContain('\x1b');
        // Outside of code there is nothing of the agent's.
        const outside = markdown.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
        expect(outside).not.toMatch(/<img|@you/);
      }),
    );
  });

  it('counts a pause that goes on up to now, and one whose process died up to its last event', () => {
    const one = viewOf('r', [...go(1, null), { type: 'paused', because: 'paused by a person' }]);
    const later = (one.updatedAt ?? 0) + 90_000;
    expect(statsOf([one], later).elapsedMs - statsOf([abandoned(one)], later).elapsedMs).toBe(90_000);
  });

  it('tells costs without the tail of a binary fraction', () => {
    const dime = (run: string) => {
      return { ...viewOf(run, go(1, { ok: true })), usage: { ...usage, costUsd: 0.1 } };
    };
    expect(statsOf(['a', 'b', 'c'].map(dime), start).usage.costUsd).toBe(0.3);
  });
});
