import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerPath, projectPaths, runPaths } from '../../../src/config/paths.ts';
import { keepAnswer, keepQuestion } from '../../../src/drive/human.ts';
import { appendFleetEvents, type FleetEvent } from '../../../src/fleet/files/events.ts';
import { newRecord } from '../../../src/fleet/files/loop-record.ts';
import {
  createLoop,
  type LoopEnd,
  type LoopRecord,
  readLoop,
  updateLoop,
} from '../../../src/fleet/files/loops.ts';
import { fleetPaths, logPaths, loopPaths } from '../../../src/fleet/files/paths.ts';
import { addWorker, removeWorker, type Worker } from '../../../src/fleet/files/workers.ts';
import { readText } from '../../../src/os/files/files.ts';
import { acquireLock } from '../../../src/os/files/lock.ts';
import { createRedactor } from '../../../src/os/redact/redact.ts';
import { collectReport } from '../../../src/show/report/report-html.ts';
import { createActions, workerScreen } from '../../../src/show/web/control.ts';
import type { ListUpdate } from '../../../src/show/web/stream.ts';
import type { LoopSummary } from '../../../src/show/web/summarise.ts';
import { type Dashboard, libraryOf, makeWorld, serve, type World } from './browser.ts';
import { addIteration, endRun, journalWriter, startRun } from './journals.ts';
import { prdRun, shopRun } from './scenes.ts';

const settings = { prompt_file: 'PROMPT.md', max_iterations: 3, done_pattern: null, inactivity_timeout: 60 };
const startedAt = Date.parse('2026-11-14T20:00:00.000Z');
/** In its first iteration. */
const atWork = {
  iteration: 1,
  ended: 0,
  iterationStartedAt: startedAt,
  why: { state: 'working', since: startedAt },
} as const;

/** A worker on the list, with a loop where one is given. */
function enlist(
  world: World,
  name: string,
  loop: Partial<LoopRecord> | null,
  worker: Partial<Worker> = {},
): void {
  addWorker(world.env, {
    ...{
      name,
      status: 'running',
      cmd: ['claude'],
      started: new Date(startedAt).toISOString(),
      cwd: world.cwd,
    },
    ...{ env: {}, tags: [], tmux: null, worktree: null, pid: null, metadata: { ralph: loop !== null } },
    ...worker,
  });
  if (loop === null) return;
  createLoop(world.env, { ...newRecord(name, { settings, options: {}, held: false }, startedAt), ...loop });
}

function tell(world: World, name: string, ...events: Omit<FleetEvent, 'at'>[]): void {
  appendFleetEvents(
    loopPaths(world.env, name).events,
    events.map((event, index) => ({ at: startedAt + index * 1000, ...event })),
  );
}

async function find(world: World, id: string) {
  const library = await libraryOf(world);
  const view = library.view(id);
  const summary = library.summaries().find((one) => one.id === id);
  if (summary === undefined || view === null) throw new Error(`no ${id}`);
  return { summary, view };
}

const offered = ({ offers }: LoopSummary) => offers.map(({ action }) => action);

async function get<T = object>({ url, token }: Dashboard, path: string): Promise<T> {
  const { origin } = new URL(url);
  const response = await fetch(`${origin}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
}

async function post({ url, token }: Dashboard, id: string, body: object) {
  const { origin } = new URL(url);
  const response = await fetch(`${origin}/api/loops/${encodeURIComponent(id)}/actions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Origin: origin, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** What the stream says, as far as it was read. */
async function openStream({ url, token }: Dashboard, query = '') {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${new URL(url).origin}/api/stream${query}`, {
    headers: { Authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  const blocks = () =>
    text.split('\n\n').flatMap((block) => {
      const [, event, data] = /event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return event === undefined || data === undefined || !data.endsWith('}') ? [] : [{ event, data }];
    });
  return {
    text: () => text,
    /** Reads on until an event is there that fits. */
    async until<T>(name: string, fits: (data: T) => boolean): Promise<T> {
      for (;;) {
        const found = blocks()
          .filter(({ event }) => event === name)
          .map(({ data }) => JSON.parse(data) as T)
          .find(fits);
        if (found !== undefined) return found;
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    },
  };
}

describe('what the dashboard tells of a worker', () => {
  it('is what is named, never its environment, its programs or where its files are', async () => {
    const world = makeWorld();
    const secret = 'sk-live-0123456789abcdefghij';
    enlist(
      world,
      'sec',
      { ...atWork, options: { engine: ['/very/own/node'] } },
      { env: { API_KEY: secret }, cmd: ['claude', '--api-key', secret] },
    );
    const server = await serve(world);
    const { loops } = await get<{ loops: LoopSummary[] }>(server, '/api/loops');
    expect(Object.keys(loops[0] ?? {}).sort()).toEqual(
      [
        ...[
          'agent',
          'becauseCode',
          'branch',
          'detail',
          'elapsedMs',
          'folder',
          'hasTerminal',
          'id',
          'isCommand',
          'iteration',
        ],
        ...[
          'kind',
          'marks',
          'name',
          'next',
          'of',
          'offers',
          'outcome',
          'startedAt',
          'status',
          'stories',
          'title',
        ],
        ...['updatedAt', 'usage'],
      ].sort(),
    );
    const stream = await openStream(server, '?loop=worker:sec');
    await stream.until('view', () => true);
    const view = await get(server, '/api/loops/worker:sec');
    for (const text of [JSON.stringify(loops), JSON.stringify(view), stream.text()]) {
      expect(text).toContain('sec');
      expect(text).not.toContain(secret);
      expect(text).not.toContain('/very/own');
    }
  });

  it('is in no report, which says nothing of where journals are', async () => {
    const world = makeWorld();
    shopRun(world.cwd);
    enlist(world, 'one', atWork);
    const library = await libraryOf(world, false);
    const ids = library.summaries().map(({ id }) => id);
    expect(ids).toEqual(['20261114-213000-001abc']);
    const text = JSON.stringify(
      await collectReport(library, ids, createRedactor({}), { version: '1.2.3', madeAt: 0 }),
    );
    expect(text).not.toContain('journal.ndjson');
  });

  it('says so where the list of workers cannot be read, and shows the runs', async () => {
    const world = makeWorld();
    shopRun(world.cwd);
    mkdirSync(fleetPaths(world.env).root, { recursive: true });
    writeFileSync(fleetPaths(world.env).state, '{"workers": 7}');
    const server = await serve(world);
    const { loops, trouble } = await get<{ loops: unknown[]; trouble: string }>(server, '/api/loops');
    expect(loops).toHaveLength(1);
    expect(trouble).toContain('is not a list of workers');
    const stream = await openStream(server);
    expect((await stream.until<ListUpdate>('loops', ({ all }) => all)).trouble).toBe(trouble);
    writeFileSync(fleetPaths(world.env).state, '{"workers": [');
    for (const look of ['that finds it', 'after it was set aside']) {
      const again = await get<{ trouble: string }>(server, '/api/loops');
      expect([look, again.trouble]).toEqual([look, expect.stringContaining('it was moved to')]);
    }
  });
});

function usedUp(exitCode: number): LoopEnd {
  const because = { code: 'max-iterations', text: '3 iterations are used up' } as const;
  return { outcome: 'MAX_ITERATIONS_REACHED', because, exitCode };
}

describe('a worker that drives a terminal', () => {
  const started = { type: 'iteration.started', text: 'iteration 3', iteration: 3 } as const;

  it('is not done when its iterations ran out', async () => {
    const world = makeWorld();
    const detail = 'loop not done after 3 iterations';
    const why = { state: 'unfinished', since: startedAt + 2000, detail } as const;
    enlist(world, 'max', { status: 'stopped', iteration: 3, ended: 3, why, end: usedUp(1) });
    tell(
      world,
      'max',
      started,
      { type: 'iteration.ended', text: 'ended', iteration: 3, exitCode: 0 },
      { type: 'unfinished', text: detail, iteration: 3, outcome: 'MAX_ITERATIONS_REACHED' },
    );
    const { summary, view } = await find(world, 'worker:max');
    expect(summary).toMatchObject({ status: 'failed', detail, marks: ['went-on'], offers: [] });
    expect(view).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', because: detail, state: 'ended' });
  });

  it('with nothing to reach is done when its iterations are used up', async () => {
    const world = makeWorld();
    const detail = 'loop complete after 3 iterations';
    const why = { state: 'done', since: startedAt + 2000, detail } as const;
    enlist(world, 'max', { status: 'stopped', iteration: 3, ended: 3, why, end: usedUp(0) });
    const { summary, view } = await find(world, 'worker:max');
    expect(summary).toMatchObject({ status: 'done', detail });
    expect(view).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', exitCode: 0, needs: null });
  });

  it('is done when its pattern was found, in the middle of an iteration too', async () => {
    const world = makeWorld();
    const detail = 'done pattern matched, stopping loop';
    const why = { state: 'done', since: startedAt + 1000, detail } as const;
    const because = { code: 'claim-accepted', text: detail } as const;
    const end = { outcome: 'PROMISE_ACCEPTED', because, exitCode: 0 } as const;
    enlist(world, 'done', { status: 'stopped', iteration: 3, ended: 3, why, end });
    tell(world, 'done', started, { type: 'done', text: detail, iteration: 3, outcome: 'PROMISE_ACCEPTED' });
    const { summary, view } = await find(world, 'worker:done');
    expect(summary).toMatchObject({ status: 'done', marks: ['accepted'] });
    expect(view.iterations[0]).toMatchObject({ endedAt: startedAt + 1000, agentMs: 1000 });
  });

  it('that waits for a permission needs you, and takes an answer by its terminal', async () => {
    const world = makeWorld();
    const why = { state: 'permission', since: startedAt, detail: 'asks: run "npm publish"?' } as const;
    const tmux = { session: 's', window: 'w', socket: 'no-such-server' };
    enlist(world, 'asks', { ...atWork, why }, { tmux });
    const { summary } = await find(world, 'worker:asks');
    expect(summary).toMatchObject({ status: 'needs-you', detail: why.detail, next: 'swarm attach asks' });
    expect(offered(summary)).toEqual(['answer', 'pause', 'stop']);
    expect(summary.offers[0]?.ask).toContain('terminal');
    expect(summary.offers.at(-1)?.ask).toContain('at once');
  });

  it('does not know what was changed, nor which tools were called', async () => {
    const world = makeWorld();
    enlist(world, 'one', atWork);
    tell(world, 'one', started);
    const { view } = await find(world, 'worker:one');
    expect(view.source).toBe('timeline');
    expect(view.iterations[0]?.toolCalls).toBeNull();
  });
});

describe('a worker with the checks of ralph run', () => {
  const run = '20261114-200001-000abc';
  const options = { run: ['--completion-promise', 'DONE'], runId: run };

  /** A journal as `ralph run --one-iteration` leaves it after so many of them. */
  function journal(
    world: World,
    iterations: number,
    end?: 'NEEDS_DECISION' | 'MAX_ITERATIONS_REACHED',
  ): void {
    const writer = journalWriter(startedAt + 1000);
    startRun(writer, run, 'Do it', { cwd: world.cwd });
    for (let n = 1; n <= iterations; n++) {
      const isLast = n === iterations && end !== undefined;
      addIteration(writer, n, isLast ? { outcome: end, because: 'Gross or net?' } : {});
    }
    if (end) endRun(writer, end, 'Gross or net?', iterations);
    else writer.add({ type: 'run.yielded', iteration: iterations }, 0);
    writer.save(runPaths(world.cwd, run).journal);
  }

  it('goes on between two iterations, whatever its journal ends with', async () => {
    const world = makeWorld();
    const until = startedAt + 600_000;
    const why = { state: 'backoff', since: startedAt, until } as const;
    enlist(world, 'one', { iteration: 1, ended: 1, options, why });
    journal(world, 1);
    const { summary, view } = await find(world, 'worker:one');
    expect(summary.status).toBe('waiting');
    expect(view).toMatchObject({
      state: 'waiting',
      outcome: null,
      because: null,
      endedAt: null,
      waitUntil: until,
    });
    expect(offered(summary)).toEqual(['note', 'pause', 'stop']);
  });

  it('says why it waits, also where its worker is not known', async () => {
    const world = makeWorld();
    const writer = journalWriter(startedAt);
    startRun(writer, run, 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, { limitedFor: 60, because: 'the usage limit is reached' });
    writer.add({ type: 'run.yielded', iteration: 1 }, 0);
    writer.save(runPaths(world.cwd, run).journal);
    expect((await find(world, run)).summary).toMatchObject({
      status: 'waiting',
      detail: 'the usage limit is reached',
    });
  });

  it('needs you when its agent asks, and goes on with your answer', async () => {
    const world = makeWorld();
    const why = { state: 'answer', since: startedAt, detail: 'Gross or net?' } as const;
    enlist(world, 'one', { status: 'paused', iteration: 2, ended: 2, options, why });
    journal(world, 2, 'NEEDS_DECISION');
    const { summary, view } = await find(world, 'worker:one');
    expect(summary).toMatchObject({ status: 'needs-you', detail: 'Gross or net?' });
    expect(summary.next).toBe(`(cd ${world.cwd} && ralph answer "...") && swarm ralph resume one`);
    expect(offered(summary)).toEqual(['answer', 'stop']);
    expect(view).toMatchObject({ outcome: 'NEEDS_DECISION', needs: { kind: 'answer' } });
    const swarm = [process.execPath, '-e', ''] as const;
    const actions = createActions({ env: world.env, now: Date.now, version: '1.2.3', swarm });
    const server = await serve(world, { actions });
    expect(await post(server, 'worker:one', { action: 'note', text: 'Be quick.' })).toMatchObject({
      status: 200,
    });
    expect(
      await post(server, 'worker:one', { action: 'answer', text: 'Net, $(always) "net".' }),
    ).toMatchObject({
      status: 200,
      text: expect.stringContaining('goes on with your answer'),
    });
    expect(readText(answerPath(world.env, world.cwd))).toBe('Net, $(always) "net".\n');
    expect(readLoop(world.env, 'one')).toMatchObject({ status: 'running', why: { state: 'queued' } });
    expect(await post(server, 'worker:one', { action: 'answer', text: 'Gross.' })).toMatchObject({
      status: 409,
    });
  });

  it('tells how it ended as the fleet knows it', async () => {
    const world = makeWorld();
    const since = startedAt + 60_000;
    const ended = { iteration: 2, ended: 2, options };
    enlist(world, 'one', {
      ...ended,
      status: 'failed',
      why: { state: 'failed', since, detail: '5 failures' },
    });
    journal(world, 2);
    const { summary, view } = await find(world, 'worker:one');
    expect(summary).toMatchObject({ status: 'failed', detail: '5 failures', next: 'swarm respawn one' });
    expect(view).toMatchObject({ outcome: 'AGENT_FAILED', endedAt: since });
    updateLoop(world.env, 'one', () => ({
      change: { status: 'stopped', why: { state: 'unfinished', since, detail: 'not done' }, end: usedUp(1) },
    }));
    journal(world, 2, 'MAX_ITERATIONS_REACHED');
    const told = (await find(world, 'worker:one')).view;
    expect(told).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', because: 'Gross or net?' });
    // Its journal has the end itself.
    expect(told.endedAt).toBe(told.updatedAt);
    expect(told.endedAt).not.toBe(since);
  });

  it('is shown once, with its own run and not with another of the same folder', async () => {
    const world = makeWorld();
    enlist(world, 'one', { ...atWork, options });
    journal(world, 1);
    shopRun(world.cwd);
    const library = await libraryOf(world);
    expect(library.summaries().map(({ id }) => id)).toEqual(['worker:one', '20261114-213000-001abc']);
    expect(library.view('worker:one')?.run).toBe(run);
    // The record names its run only after the first iteration: until then it is the newest since the start.
    updateLoop(world.env, 'one', () => ({
      change: { options: { run: options.run }, startedAt: startedAt + 7_200_000 },
    }));
    expect((await libraryOf(world)).find('worker:one')?.run).toBeNull();
  });
});

describe('a worker that only runs a command', () => {
  it('shows the end of its log, also after it has ended', async () => {
    const { env, ...world } = makeWorld();
    enlist({ env, ...world }, 'plain', null, { pid: 2 ** 22 + 1 });
    expect(await workerScreen(env, 'plain')).toBeNull();
    const { stdout, stderr } = logPaths(env, 'plain');
    mkdirSync(dirname(stdout), { recursive: true });
    writeFileSync(stdout, `${'x'.repeat(70_000)}\nbuilt\n`);
    writeFileSync(stderr, 'a warning\n');
    const text = (await workerScreen(env, 'plain')) ?? '';
    expect(text).toMatch(/^x+\nbuilt\n\na warning\n$/);
    expect(text.length).toBeLessThan(66_000);
    expect(await workerScreen(env, 'nobody')).toBeNull();
  });

  it('has a page, says when its command has ended, and cannot be paused', async () => {
    const world = makeWorld();
    enlist(world, 'plain', null, { pid: process.pid, cmd: ['npm', 'run', 'dev'] });
    enlist(world, 'over', null, { pid: 2 ** 22 + 1 });
    const actions = createActions({ env: world.env, now: Date.now, version: '1.2.3', swarm: ['true'] });
    const server = await serve(world, { actions });
    const stream = await openStream(server, '?loop=worker:plain');
    expect(await stream.until<{ task: string }>('view', () => true)).toMatchObject({
      task: 'npm run dev',
    });
    const { loops } = await get<{ loops: LoopSummary[] }>(server, '/api/loops');
    const [plain, over] = ['plain', 'over'].map((name) => loops.find((loop) => loop.name === name));
    expect(plain).toMatchObject({ status: 'running', detail: 'its command runs' });
    expect(over).toMatchObject({ status: 'stopped', detail: 'its command has ended', offers: [] });
    expect(plain?.offers.map(({ action }) => action)).toEqual(['stop']);
    expect(await post(server, 'worker:plain', { action: 'pause' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('only a loop can be paused'),
    });
  });
});

describe('what changes while nobody looks', () => {
  it('is told to those who look: workers that go away, and come back', async () => {
    const world = makeWorld();
    enlist(world, 'one', atWork);
    enlist(world, 'two', atWork);
    const server = await serve(world);
    const stream = await openStream(server);
    const first = await stream.until<ListUpdate>('loops', ({ all }) => all);
    expect(first.loops.map(({ name }) => name).sort()).toEqual(['one', 'two']);
    removeWorker(world.env, 'one');
    expect((await stream.until<ListUpdate>('loops', ({ gone }) => gone.length > 0)).gone).toEqual([
      'worker:one',
    ]);
    const { loops } = await get<{ loops: LoopSummary[] }>(server, '/api/loops');
    expect(loops.map(({ name }) => name)).toEqual(['two']);
    enlist(world, 'one', { ...atWork, iteration: 2 });
    const back = (update: ListUpdate) => !update.all && update.loops.some(({ name }) => name === 'one');
    expect((await stream.until<ListUpdate>('loops', back)).gone).toEqual([]);
  });

  it('is looked for before anything is said not to be there', async () => {
    const world = makeWorld();
    const server = await serve(world, { actions: async () => ({ ok: true, told: '' }) });
    shopRun(world.cwd, 'r1');
    expect(await get(server, '/api/loops/r1')).toMatchObject({ run: 'r1' });
    shopRun(world.cwd, 'r2');
    const stream = await openStream(server, '?loop=r2');
    expect(await stream.until('view', () => true)).toMatchObject({ run: 'r2' });
    shopRun(world.cwd, 'r3');
    expect(await post(server, 'r3', { action: 'pause' })).toMatchObject({ status: 200 });
    expect(await post(server, 'r4', { action: 'pause' })).toMatchObject({ status: 404 });
  });

  it('is seen before anything is done: a run that has ended takes no note', async () => {
    const world = makeWorld();
    const writer = journalWriter(startedAt);
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    writer.save(runPaths(world.cwd, 'r1').journal);
    const taken = acquireLock(projectPaths(world.cwd).lock, { run: 'r1', since: '' });
    const actions = createActions({ env: world.env, now: Date.now, version: '1.2.3', swarm: ['true'] });
    const server = await serve(world, { actions });
    expect(await post(server, 'r1', { action: 'note', text: 'hello' })).toMatchObject({ status: 200 });
    if (taken.ok) taken.lock.release();
    for (const action of [{ action: 'note', text: 'hello' }, { action: 'pause' }])
      expect(await post(server, 'r1', action)).toMatchObject({ status: 409 });
  });

  it('does not keep a stream open for somebody who only asks for its head', async () => {
    const server = await serve(makeWorld());
    const response = await fetch(`${new URL(server.url).origin}/api/stream`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${server.token}` },
      signal: AbortSignal.timeout(30_000),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toBe('');
  });
});

describe('a run that asked', () => {
  const question = 'Gross or net?';

  function asking(world: World, run: string, outcome: 'NEEDS_DECISION' | 'PROMISE_ACCEPTED'): void {
    const writer = journalWriter(startedAt);
    startRun(writer, run, 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, { outcome, because: question });
    endRun(writer, outcome, question, 1);
    writer.save(runPaths(world.cwd, run).journal);
  }

  it('needs you until you have answered, and takes no second answer', async () => {
    const world = makeWorld();
    asking(world, 'r1', 'NEEDS_DECISION');
    keepQuestion(world.cwd, 'NEEDS_DECISION', question);
    const actions = createActions({ env: world.env, now: Date.now, version: '1.2.3', swarm: ['true'] });
    const server = await serve(world, { actions });
    const shown = async () => (await get<{ loops: LoopSummary[] }>(server, '/api/loops')).loops[0];
    expect(await shown()).toMatchObject({
      status: 'needs-you',
      detail: question,
      next: 'ralph answer "..." && ralph run --resume r1',
    });
    expect(await post(server, 'r1', { action: 'answer', text: 'Net.' })).toMatchObject({ status: 200 });
    expect(await shown()).toMatchObject({
      status: 'stopped',
      detail: 'you have answered it: resume it',
      next: 'ralph run --resume r1',
      offers: [],
    });
    expect(await post(server, 'r1', { action: 'answer', text: 'Gross.' })).toMatchObject({ status: 409 });
    expect(readText(answerPath(world.env, world.cwd))).toBe('Net.\n');
  });

  it('of a PRD is archived once it is done', async () => {
    const world = makeWorld();
    const writer = prdRun(world.cwd);
    endRun(writer, 'PROMISE_ACCEPTED', 'passed: turn, tasks', 12);
    writer.save(runPaths(world.cwd, '20261115-090000-004abc').journal);
    const [done] = (await libraryOf(world)).summaries();
    expect(done).toMatchObject({ status: 'done', next: 'ralph prd archive' });
  });

  it('needs nobody once a later run went on', async () => {
    const world = makeWorld();
    asking(world, '20261114-100000-000abc', 'NEEDS_DECISION');
    asking(world, '20261114-110000-000abc', 'PROMISE_ACCEPTED');
    const library = await libraryOf(world);
    const [later, earlier] = library.summaries().sort((a, b) => (a.id < b.id ? 1 : -1));
    expect(later).toMatchObject({ status: 'done', next: 'ralph show 20261114-110000-000abc' });
    expect(earlier).toMatchObject({
      status: 'stopped',
      next: 'ralph run --resume 20261114-100000-000abc',
      offers: [],
    });
  });

  it('is resumed by ralph prd run where it works on a PRD', async () => {
    const world = makeWorld();
    prdRun(world.cwd, 'r1');
    expect((await find(world, 'r1')).summary.next).toBe('ralph prd run');
    keepAnswer(world.env, world.cwd, 'x');
    const writer = prdRun(world.cwd, 'r2');
    endRun(writer, 'BLOCKED', question, 12);
    writer.save(runPaths(world.cwd, 'r2').journal);
    keepQuestion(world.cwd, 'BLOCKED', question, join(world.cwd, 'ralph'));
    expect((await find(world, 'r2')).summary.next).toBe('ralph prd run');
    writeFileSync(answerPath(world.env, world.cwd), '');
    expect((await find(world, 'r2')).summary.next).toBe('ralph answer "..." && ralph prd run');
  });
});

describe('a run whose process died', () => {
  it('was cut in its last iteration, and its story is nobody’s work', async () => {
    const world = makeWorld();
    prdRun(world.cwd, 'r1');
    const { summary, view } = await find(world, 'r1');
    expect(summary).toMatchObject({ status: 'failed', detail: 'its process is gone: it was killed' });
    expect(view.state).toBe('abandoned');
    expect(view.iterations.at(-1)).toMatchObject({ mark: 'cut', endedAt: view.updatedAt });
    const stream = await openStream(await serve(world), '?loop=r1');
    const sent = await stream.until<{ iterations: { mark: string }[] }>('view', () => true);
    expect(sent.iterations.at(-1)?.mark).toBe('cut');
  });
});
