import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LoopPlan } from '../../../src/core/loop.ts';
import { type Outcome, outcomes } from '../../../src/core/outcome.ts';
import { addUsage, noUsage, type Usage } from '../../../src/core/turn.ts';
import type { EventBody, JournalEvent } from '../../../src/journal/events.ts';
import type { StoryState } from '../../../src/journal/loop-schemas.ts';
import { aPlan, aSavedLoop } from '../../core/loop-examples.ts';

/** Writes journals as loops would, with figures that a test can know. */
export type JournalWriter = {
  readonly events: JournalEvent[];
  /** Adds an event some seconds after the last one. */
  add(body: EventBody, seconds?: number): void;
  save(path: string): void;
};

const startedAt = Date.parse('2026-11-14T21:30:00.000Z');

export function journalWriter(from = startedAt): JournalWriter {
  const events: JournalEvent[] = [];
  let at = from;
  return {
    events,
    add(body, seconds = 1) {
      at += seconds * 1000;
      events.push({ v: 1, seq: events.length + 1, at: new Date(at).toISOString(), ...body });
    },
    save(path) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
  };
}

export function startRun(
  writer: JournalWriter,
  run: string,
  task: string,
  more: Partial<{ cwd: string; plan: LoopPlan }> = {},
): void {
  writer.add({
    type: 'run.started',
    run,
    version: '0.1.0',
    pid: 4242,
    cwd: '/home/dev/shop',
    agent: 'claude',
    agentVersion: '2.1.325',
    command: 'claude',
    plan: aPlan({ iterations: 20, costUsd: 12 }),
    task,
    cli: [],
    ...more,
  });
}

export type Go = {
  readonly of?: number;
  readonly usage?: Usage;
  readonly context?: { tokens: number; window?: number };
  readonly tools?: number;
  readonly agentSeconds?: number;
  readonly commits?: number;
  readonly files?: readonly string[];
  /** Guardrail command to whether it passed. */
  readonly guardrails?: Readonly<Record<string, boolean>>;
  readonly claim?: 'accepted' | 'rejected';
  readonly limitedFor?: number;
  readonly text?: string;
  readonly head?: string;
  readonly prd?: {
    readonly mode: 'implement' | 'review' | 'review-fix';
    readonly story: string;
    readonly before: readonly StoryState[];
    readonly after: readonly StoryState[];
  };
  readonly outcome?: Outcome;
  readonly because?: string;
};

const toolNames = ['Read', 'Edit', 'Bash', 'Grep', 'Write'];

export function addIteration(writer: JournalWriter, iteration: number, go: Go = {}): void {
  const { tools = 3, agentSeconds = 40, guardrails = {}, files = [], commits = 0 } = go;
  const head = go.head === undefined ? {} : { head: go.head };
  writer.add({
    type: 'iteration.started',
    iteration,
    of: go.of ?? 20,
    promptChars: 400,
    promptStart: 'Do the task.',
    ...head,
  });
  if (go.prd) {
    const { mode, story, before } = go.prd;
    writer.add(
      { type: 'prd.iteration', iteration, mode, story, counts: countsOf(before), stories: before },
      0,
    );
  }
  writer.add({ type: 'agent.started', iteration, pid: 4243, argv: ['claude', '-p'] }, 0);
  for (let i = 0; i < tools; i++) {
    const id = `t${iteration}-${i}`;
    const name = toolNames[i % toolNames.length] ?? 'Read';
    const summary =
      name === 'Bash' ? 'npm test -- --run cart' : `src/cart/${['price', 'total', 'tax'][i % 3]}.ts`;
    writer.add({ type: 'tool.started', iteration, id, name, summary }, agentSeconds / tools / 2);
    writer.add(
      { type: 'tool.ended', iteration, id, ok: (iteration + i) % 7 !== 0 },
      agentSeconds / tools / 2,
    );
  }
  writer.add(
    {
      type: 'agent.ended',
      iteration,
      end: go.limitedFor === undefined ? 'finished' : 'limited',
      cause: 'exited',
      exitCode: 0,
      toolCalls: tools,
      ms: agentSeconds * 1000,
      progress: { commits, filesChanged: files.length, ...(files.length > 0 ? { files } : {}) },
      text: go.text ?? 'I moved the rounding into one place and ran the tests of the cart again.',
      ...(go.usage ? { usage: go.usage } : {}),
      ...(go.context ? { context: go.context } : {}),
    },
    0,
  );
  if (go.prd) {
    const { mode, after } = go.prd;
    writer.add(
      {
        type: 'prd.checked',
        iteration,
        mode,
        ok: true,
        problems: [],
        undone: false,
        complete: false,
        counts: countsOf(after),
        stories: after,
      },
      0,
    );
  }
  for (const [command, ok] of Object.entries(guardrails)) {
    writer.add({ type: 'guardrail.started', iteration, command }, 0);
    const log = `.ralph/guardrail_${iteration}_${command.replace(/\W+/g, '-')}.log`;
    writer.add(
      {
        type: 'guardrail.ended',
        iteration,
        command,
        ok,
        exitCode: ok ? 0 : 1,
        timedOut: false,
        ms: 6000,
        log,
        action: 'APPEND',
      },
      6,
    );
  }
  if (go.claim) {
    const failed = Object.entries(guardrails).find(([, ok]) => !ok)?.[0];
    const evidence = [
      { check: 'tool-calls', ok: true, detail: `${tools} tool calls, 1 needed` },
      ...Object.entries(guardrails).map(([command, ok]) => ({
        check: `guardrail: ${command}`,
        ok,
        detail: `exit code ${ok ? 0 : 1}`,
      })),
      ...(go.claim === 'accepted' ? [{ check: 'verify: npm run e2e', ok: true, detail: 'exit code 0' }] : []),
    ];
    const because =
      go.claim === 'accepted' ? 'all checks passed' : `guardrail: ${failed ?? 'none'}: exit code 1`;
    writer.add({ type: 'verdict', iteration, accepted: go.claim === 'accepted', because, evidence }, 0);
  }
  const kind = go.outcome ? 'stop' : go.limitedFor === undefined ? 'continue' : 'wait';
  const words =
    go.because ?? (go.claim === 'rejected' ? 'the claim was rejected' : 'the agent did not claim to be done');
  writer.add(
    {
      type: 'decision',
      iteration,
      kind,
      because: { code: go.limitedFor === undefined ? 'no-claim' : 'usage-limit', text: words },
      ...(go.outcome ? { outcome: go.outcome } : {}),
      ...(go.limitedFor === undefined ? {} : { ms: go.limitedFor * 1000 }),
      ...head,
      loop: aSavedLoop({ iteration: iteration + 1, usage: spentBy(writer) }),
    },
    0,
  );
  if (go.limitedFor !== undefined)
    writer.add({ type: 'notice', text: 'the usage limit is reached' }, go.limitedFor - 1);
}

export function endRun(writer: JournalWriter, outcome: Outcome, because: string, iterations: number): void {
  const { exitCode } = outcomes[outcome];
  writer.add(
    {
      type: 'run.ended',
      outcome,
      exitCode,
      because: { code: 'no-claim', text: because },
      iterations,
      usage: spentBy(writer),
      ms: 1000,
    },
    0,
  );
}

/** What the agent spent up to here, as the loop counts it. */
function spentBy({ events }: JournalWriter): Usage {
  const each = events.flatMap((event) => (event.type === 'agent.ended' ? (event.usage ?? []) : []));
  return each.reduce(addUsage, noUsage);
}

function countsOf(stories: readonly StoryState[]) {
  const open = stories.filter(({ passes }) => !passes);
  const needsReview = open.filter(({ reviewStatus }) => reviewStatus === 'needs_review').length;
  const changesRequested = open.filter(({ reviewStatus }) => reviewStatus === 'changes_requested').length;
  return {
    total: stories.length,
    done: stories.length - open.length,
    needsReview,
    changesRequested,
    open: open.length - needsReview - changesRequested,
  };
}
