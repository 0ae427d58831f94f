import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPaths } from '../../../src/config/paths.ts';
import type { Usage } from '../../../src/core/turn.ts';
import { keepQuestion } from '../../../src/drive/human.ts';
import type { LoopRecord } from '../../../src/fleet/files/loops.ts';
import { fleetPaths, loopPaths } from '../../../src/fleet/files/paths.ts';
import type { StoryState } from '../../../src/journal/loop-schemas.ts';
import { aPlan } from '../../core/loop-examples.ts';
import { addIteration, endRun, type JournalWriter, journalWriter, startRun } from './journals.ts';

/** Figures that rise and fall, the same at every start. */
function usageOf(n: number): Usage {
  const wave = 1 + 0.6 * Math.sin(n * 1.3) + 0.3 * Math.sin(n * 0.37);
  return {
    inputTokens: Math.round(3000 * wave),
    outputTokens: Math.round(5200 * wave),
    cacheReadTokens: Math.round(88_000 * wave + n * 2500),
    cacheWriteTokens: Math.round(14_000 * wave),
    costUsd: Math.round(62 * wave) / 100,
  };
}

const checks = (n: number) => ({
  'npm test': n > 9 || n % 3 === 1,
  'npm run lint': n !== 4 && n !== 5,
  'npx tsc --noEmit': n > 2,
});

/** A night's work: failing checks, two false claims, a usage limit, and in the end the real thing. */
export function shopRun(cwd: string, run = '20261114-213000-001abc'): JournalWriter {
  const writer = journalWriter();
  startRun(writer, run, 'Make the cart compute totals in cents\n\nAll tests have to pass.', { cwd });
  for (let n = 1; n <= 14; n++) {
    const guardrails = checks(n);
    addIteration(writer, n, {
      usage: usageOf(n),
      context: { tokens: 60_000 + ((n * 37_000) % 125_000), window: 200_000 },
      tools: 4 + ((n * 5) % 9),
      agentSeconds: 60 + ((n * 53) % 240),
      commits: guardrails['npm test'] ? 1 + (n % 2) : 0,
      files: n % 4 === 0 ? ['src/cart/price.ts', 'src/cart/total.ts', 'test/cart.test.ts'] : [],
      guardrails,
      ...(n === 5 || n === 8
        ? { claim: 'rejected' as const, text: 'All totals are in cents now.\n\n<promise>DONE</promise>' }
        : {}),
      ...(n === 6 ? { limitedFor: 900, because: 'the usage limit is reached' } : {}),
      ...(n === 14
        ? {
            claim: 'accepted' as const,
            outcome: 'PROMISE_ACCEPTED' as const,
            because: 'all checks passed',
            text: 'Totals are in cents everywhere; 214 tests pass.\n\n<promise>DONE</promise>',
          }
        : {}),
    });
  }
  endRun(writer, 'PROMISE_ACCEPTED', 'all checks passed', 14);
  writer.save(runPaths(cwd, run).journal);
  return writer;
}

export function decisionRun(cwd: string, run = '20261115-180000-002abc'): void {
  const writer = journalWriter(Date.parse('2026-11-14T18:00:00.000Z'));
  startRun(writer, run, 'Move the invoices to the new API', { cwd });
  for (let n = 1; n <= 4; n++)
    addIteration(writer, n, { usage: usageOf(n), guardrails: { 'npm test': n > 2 }, commits: n > 2 ? 1 : 0 });
  const question =
    'Two fields are called "total" in the new API. Should invoices show the gross or the net one?';
  addIteration(writer, 5, { usage: usageOf(5), outcome: 'NEEDS_DECISION', because: question });
  endRun(writer, 'NEEDS_DECISION', question, 5);
  keepQuestion(cwd, 'NEEDS_DECISION', question);
  writer.save(runPaths(cwd, run).journal);
}

export function stuckRun(cwd: string, run = '20261113-090000-003abc'): void {
  const writer = journalWriter(Date.parse('2026-11-13T09:00:00.000Z'));
  startRun(writer, run, 'Upgrade the bundler', { cwd });
  for (let n = 1; n <= 6; n++)
    addIteration(writer, n, { usage: usageOf(n), guardrails: { 'npm run build': false } });
  addIteration(writer, 7, {
    usage: usageOf(7),
    guardrails: { 'npm run build': false },
    outcome: 'STUCK',
    because: '3 iterations in a row brought no progress',
  });
  endRun(writer, 'STUCK', '3 iterations in a row brought no progress', 7);
  writer.save(runPaths(cwd, run).journal);
}

const titles = [
  'Sign in by link',
  'Show the order history',
  'Cancel an order',
  'Refund to the card',
  'Mail at each step',
  'Export as CSV',
];

/** A PRD in the middle of its work: two stories done, one that bounced twice, one in review. */
export function prdRun(cwd: string, run = '20261115-090000-004abc'): JournalWriter {
  const writer = journalWriter(Date.parse('2026-11-15T09:00:00.000Z'));
  startRun(writer, run, 'Orders: work off the stories of ralph/prd.md', {
    cwd,
    plan: { ...aPlan({ iterations: 24, costUsd: 12 }), completion: { tasks: 'ralph/tasks.json' } },
  });
  let stories: StoryState[] = titles.map((title, index) => ({
    id: `US-00${index + 1}`,
    title,
    priority: index + 1,
    dependsOn: index === 3 ? ['US-003'] : [],
    passes: false,
    reviewStatus: null,
    reviewCount: 0,
  }));
  const steps: ['implement' | 'review' | 'review-fix', number, StoryState['reviewStatus']][] = [
    ['implement', 0, 'needs_review'],
    ['review', 0, 'approved'],
    ['implement', 1, 'needs_review'],
    ['review', 1, 'changes_requested'],
    ['review-fix', 1, 'needs_review'],
    ['review', 1, 'changes_requested'],
    ['review-fix', 1, 'needs_review'],
    ['review', 1, 'approved'],
    ['implement', 2, 'needs_review'],
    ['review', 2, 'changes_requested'],
    ['review-fix', 2, 'needs_review'],
  ];
  for (const [index, [mode, place, status]] of steps.entries()) {
    const before = stories;
    stories = stories.map((story, at) =>
      at === place
        ? {
            ...story,
            reviewStatus: status,
            passes: status === 'approved',
            reviewCount: story.reviewCount + (mode === 'review' ? 1 : 0),
          }
        : story,
    );
    addIteration(writer, index + 1, {
      of: 24,
      usage: usageOf(index + 3),
      context: { tokens: 50_000 + index * 9000, window: 200_000 },
      agentSeconds: mode === 'review' ? 90 : 240,
      commits: 1,
      guardrails: { 'npm test': true },
      prd: { mode, story: before[place]?.id ?? '', before, after: stories },
    });
  }
  writer.add({ type: 'iteration.started', iteration: 12, of: 24, promptChars: 900 });
  writer.add(
    {
      type: 'prd.iteration',
      iteration: 12,
      mode: 'review',
      story: 'US-003',
      counts: { total: 6, done: 2, needsReview: 1, changesRequested: 0, open: 3 },
      stories,
    },
    0,
  );
  writer.add({ type: 'agent.started', iteration: 12, pid: 1, argv: [] }, 0);
  writer.save(runPaths(cwd, run).journal);
  return writer;
}

/** Many iterations and events, for the weight of the page. */
export function longRun(
  cwd: string,
  iterations: number,
  toolsEach: number,
  run = '20261101-000000-005abc',
): JournalWriter {
  const writer = journalWriter(Date.parse('2026-11-01T00:00:00.000Z'));
  startRun(writer, run, 'A very long night', { cwd, plan: aPlan({ iterations, costUsd: 500 }) });
  for (let n = 1; n <= iterations; n++) {
    addIteration(writer, n, {
      of: iterations,
      usage: usageOf(n),
      context: { tokens: 40_000 + ((n * 7919) % 150_000), window: 200_000 },
      tools: toolsEach,
      commits: n % 3 === 0 ? 1 : 0,
      guardrails: { 'npm test': n % 4 !== 0, 'npm run lint': n % 9 !== 0 },
      ...(n % 25 === 0 ? { claim: 'rejected' as const } : {}),
    });
  }
  writer.save(runPaths(cwd, run).journal);
  return writer;
}

type WorkerScene = {
  readonly name: string;
  readonly status: LoopRecord['status'];
  readonly why: LoopRecord['why'];
  readonly iteration: number;
};

/** A fleet of twelve in `SWARM_HOME`, two of which wait for a person. */
export function fleetOfTwelve(env: Readonly<Record<string, string>>, cwd: string, now: number): void {
  const ago = (minutes: number) => now - minutes * 60_000;
  const scenes: WorkerScene[] = [
    {
      name: 'auth',
      status: 'running',
      why: { state: 'permission', since: ago(3), detail: 'asks: run "npm publish"?' },
      iteration: 4,
    },
    {
      name: 'billing',
      status: 'running',
      why: { state: 'answer', since: ago(12), detail: 'asks: which currency is the default?' },
      iteration: 2,
    },
    ...['cart', 'docs', 'emails', 'feeds', 'graph'].map(
      (name, n): WorkerScene => ({
        name,
        status: 'running',
        why: { state: 'working', since: ago(n) },
        iteration: 3 + n,
      }),
    ),
    {
      name: 'hooks',
      status: 'running',
      why: { state: 'limit', since: ago(20), detail: 'usage limit until 04:00', until: now + 3600_000 },
      iteration: 9,
    },
    { name: 'images', status: 'paused', why: { state: 'paused', since: ago(40) }, iteration: 5 },
    { name: 'jobs', status: 'stopped', why: { state: 'done', since: ago(90) }, iteration: 7 },
    {
      name: 'keys',
      status: 'failed',
      why: { state: 'failed', since: ago(70), detail: 'five failures in a row' },
      iteration: 5,
    },
    {
      name: 'login',
      status: 'running',
      why: { state: 'backoff', since: ago(1), detail: 'failed, tries again in 16s' },
      iteration: 6,
    },
  ];
  for (const { name } of scenes) {
    writeFileSync(join(cwd, `${name}.md`), `# Bring the ${name} service to the new schema\n`);
  }
  const { root, state } = fleetPaths(env);
  mkdirSync(root, { recursive: true });
  const started = new Date(ago(180)).toISOString();
  const workers = scenes.map(({ name, status }) => ({
    name,
    status: status === 'running' || status === 'paused' ? 'running' : 'stopped',
    cmd: ['claude', '--dangerously-skip-permissions'],
    started,
    cwd,
    tmux: { session: 'swarm-x', window: name, socket: null },
  }));
  writeFileSync(state, JSON.stringify({ workers }));
  for (const scene of scenes) writeLoop(env, scene, ago);
}

const accepted = {
  outcome: 'PROMISE_ACCEPTED',
  because: { code: 'claim-accepted', text: 'the claim was accepted' },
  exitCode: 0,
} as const;

function writeLoop(
  env: Readonly<Record<string, string>>,
  { name, status, why, iteration }: WorkerScene,
  ago: (minutes: number) => number,
): void {
  const paths = loopPaths(env, name);
  mkdirSync(paths.root, { recursive: true });
  const isOver = status === 'stopped' || status === 'failed';
  const record: LoopRecord = {
    v: 1,
    name,
    status,
    iteration,
    ended: isOver ? iteration : iteration - 1,
    startedAt: ago(180),
    iterationStartedAt: ago(5),
    failures: 0,
    totalFailures: 0,
    waitUntil: null,
    held: false,
    why,
    end: why.state === 'done' ? accepted : null,
    settings: { prompt_file: `${name}.md`, max_iterations: 20, inactivity_timeout: 60, done_pattern: null },
    options: {},
    launch: 0,
    lines: [],
  };
  writeFileSync(paths.record, JSON.stringify(record));
  const state = {
    worker_name: name,
    current_iteration: iteration,
    status,
    started: '',
    last_iteration_started: '',
    consecutive_failures: 0,
    total_failures: 0,
    ...record.settings,
  };
  writeFileSync(paths.state, JSON.stringify(state));
  const events = Array.from({ length: iteration }, (_, n) => {
    const at = ago(180 - n * 12);
    const begin = { at, type: 'iteration.started', text: `iteration ${n + 1}`, iteration: n + 1 };
    const isLast = n === iteration - 1 && !isOver;
    const exitCode = n % 5 === 3 ? 1 : 0;
    return isLast
      ? [begin]
      : [begin, { at: at + 600_000, type: 'iteration.ended', text: 'ended', iteration: n + 1, exitCode }];
  }).flat();
  if (why.state === 'done')
    events.push({ at: why.since, type: 'done', text: 'done', iteration, exitCode: 0 });
  writeFileSync(
    join(paths.root, 'events.ndjson'),
    events.map((event) => `${JSON.stringify(event)}\n`).join(''),
  );
}
