import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../src/core/duration.ts';
import type { EventBody } from '../../src/journal/events.ts';
import type { RunRecord } from '../../src/journal/run-record.ts';
import type { RunView } from '../../src/journal/run-view.ts';
import { addIteration, endRun, type JournalWriter, journalWriter, startRun } from '../show/web/journals.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph, startRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0.5 };
const go = { usage, agentSeconds: 10, tools: 1 };
const accepted = { ...go, claim: 'accepted', outcome: 'PROMISE_ACCEPTED', because: 'all shown' } as const;
const resumed = (iteration: number): EventBody => ({ type: 'run.resumed', pid: 1, iteration, cli: [] });

type Facts = Pick<RunRecord, 'state' | 'outcome' | 'iterations' | 'because' | 'damaged' | 'unknown'> & {
  readonly costUsd: number;
  readonly seconds: number;
};

const sound = { damaged: 0, unknown: 0 };

/** What is written to a journal, and what everybody has to say of it. An iteration takes 11 seconds. */
const cases: Record<string, { write(writer: JournalWriter): void; broken?: string; facts: Facts }> = {
  'a run that is done': {
    write(writer) {
      addIteration(writer, 1, { ...go, claim: 'rejected', guardrails: { 'npm test': false } });
      addIteration(writer, 2, accepted);
      endRun(writer, 'PROMISE_ACCEPTED', 'all shown', 2);
    },
    facts: { ...sound, ...end('PROMISE_ACCEPTED', 'all shown'), iterations: 2, costUsd: 1, seconds: 28 },
  },
  'a loop of a swarm that is out of iterations': {
    write(writer) {
      addIteration(writer, 1, go);
      writer.add({ type: 'run.yielded', iteration: 1 }, 0);
      writer.add(resumed(2), 600);
      addIteration(writer, 2, go);
      writer.add({ type: 'run.yielded', iteration: 2 }, 0);
      writer.add({ type: 'notice', text: 'its supervisor ends it' }, 300);
      endRun(writer, 'MAX_ITERATIONS_REACHED', '2 iterations are used up', 2);
    },
    facts: {
      ...sound,
      ...end('MAX_ITERATIONS_REACHED', '2 iterations are used up'),
      ...{ iterations: 2, costUsd: 1, seconds: 22 },
    },
  },
  'a loop of a swarm between two iterations': {
    write(writer) {
      addIteration(writer, 1, go);
      writer.add({ type: 'run.yielded', iteration: 1 }, 0);
    },
    facts: { ...sound, ...noEnd('yielded'), iterations: 1, costUsd: 0.5, seconds: 11 },
  },
  'a run with damaged lines and one of a newer release': {
    write(writer) {
      addIteration(writer, 1, go);
      addIteration(writer, 2, accepted);
      endRun(writer, 'PROMISE_ACCEPTED', 'all shown', 2);
    },
    broken: [
      'no event',
      '{"v":1,"seq":90,"at":"2026-11-14T21:30:00.000Z","type":"run.ended","outcome":"LOST"}',
      '{"v":1,"seq":91,"at":"2026-11-14T21:30:00.000Z","type":"from.the.future"}\n',
    ].join('\n'),
    facts: {
      ...{ damaged: 2, unknown: 1 },
      ...end('PROMISE_ACCEPTED', 'all shown'),
      ...{ iterations: 2, costUsd: 1, seconds: 22 },
    },
  },
  'a run that was killed in an iteration': {
    write(writer) {
      addIteration(writer, 1, go);
      writer.add({ type: 'iteration.started', iteration: 2, of: 5, promptChars: 1 });
      writer.add({ type: 'agent.started', iteration: 2, pid: 1, argv: [] });
    },
    facts: { ...sound, ...noEnd('abandoned'), iterations: 2, costUsd: 0.5, seconds: 13 },
  },
  'a run that the next one found dead': {
    write(writer) {
      addIteration(writer, 1, go);
      writer.add({ type: 'run.abandoned', swept: [] }, 9000);
    },
    facts: { ...sound, ...noEnd('abandoned'), iterations: 1, costUsd: 0.5, seconds: 11 },
  },
  'a run that was killed between its last decision and its end': {
    write: (writer) => addIteration(writer, 1, accepted),
    facts: { ...sound, ...end('PROMISE_ACCEPTED', 'all shown'), iterations: 1, costUsd: 0.5, seconds: 11 },
  },
  'a run that was resumed, with another end': {
    write(writer) {
      addIteration(writer, 1, go);
      endRun(writer, 'MAX_ITERATIONS_REACHED', 'used up', 1);
      writer.add(resumed(2), 5000);
      addIteration(writer, 2, accepted);
      endRun(writer, 'PROMISE_ACCEPTED', 'all shown', 2);
    },
    facts: { ...sound, ...end('PROMISE_ACCEPTED', 'all shown'), iterations: 2, costUsd: 1, seconds: 22 },
  },
  'a run that was resumed and killed again': {
    write(writer) {
      addIteration(writer, 1, go);
      endRun(writer, 'INTERRUPTED', 'a signal', 1);
      writer.add(resumed(1), 5000);
    },
    facts: { ...sound, ...noEnd('abandoned'), iterations: 1, costUsd: 0.5, seconds: 11 },
  },
  'a run that could not go on': {
    write(writer) {
      addIteration(writer, 1, go);
      endRun(writer, 'LOOP_FAILED', 'the disk is full', 1);
    },
    facts: {
      ...sound,
      ...end('LOOP_FAILED', 'the disk is full'),
      ...{ iterations: 1, costUsd: 0.5, seconds: 11 },
    },
  },
  'a run that came from another machine': {
    write(writer) {
      const before = journalWriter();
      addIteration(before, 7, { ...go, usage: { ...usage, costUsd: 4 } });
      const { v: _v, seq: _seq, at: _at, ...decision } = before.events.at(-1) ?? fail();
      writer.add(decision as EventBody, 0);
      addIteration(writer, 8, { ...go, usage: { ...usage, costUsd: 4.5 } });
    },
    facts: { ...sound, ...noEnd('abandoned'), iterations: 8, costUsd: 4.5, seconds: 11 },
  },
};

function end(outcome: NonNullable<RunRecord['outcome']>, because: string) {
  return { state: 'ended', outcome, because } as const;
}

function noEnd(state: RunRecord['state']) {
  return { state, outcome: null, because: null };
}

function fail(): never {
  throw new Error('there is none');
}

type Told = Pick<RunView, Exclude<keyof Facts, 'iterations' | 'costUsd' | 'seconds'> | 'usage' | 'elapsedMs'>;

function factsOf(told: Told, iterations: number): Facts {
  const { state, outcome, because, damaged, unknown, usage, elapsedMs } = told;
  const figures = { costUsd: usage.costUsd ?? 0, seconds: Math.round(elapsedMs / 1000) };
  return { state, outcome, iterations, because, damaged, unknown, ...figures };
}

const recordFacts = (record: RunRecord = fail()) => factsOf(record, record.iterations);
const viewFacts = (view: RunView = fail()) => factsOf(view, view.iteration);

const idOf = (index: number) => `20261114-2130${String(index).padStart(2, '0')}-000abc`;

function writeRuns(repo: Repo): void {
  for (const [index, { write, broken }] of Object.values(cases).entries()) {
    const writer = journalWriter();
    const path = repo.path('.ralph', 'runs', idOf(index), 'journal.ndjson');
    startRun(writer, idOf(index), 'Do it', { cwd: repo.cwd });
    write(writer);
    writer.save(path);
    if (broken !== undefined) appendFileSync(path, broken);
  }
}

async function json<T>(repo: Repo, ...args: string[]): Promise<T> {
  return JSON.parse((await runRalph([...args, '--json'], repo)).stdout) as T;
}

/** The views that a page of the dashboard gets. */
async function pageViews(repo: Repo): Promise<RunView[]> {
  const server = startRalph(['dashboard', '--no-open'], repo);
  const address = () => /http:\S+\n/.exec(server.output.stdout)?.[0].trim() ?? '';
  const { origin, hash } = new URL(await waitUntil(address, { timeoutMs: 60_000 }));
  const headers = { Authorization: `Bearer ${hash.replace('#token=', '')}` };
  const ids = Object.keys(cases).map((_, index) => idOf(index));
  return Promise.all(
    ids.map(async (id) => (await (await fetch(`${origin}/api/loops/${id}`, { headers })).json()) as RunView),
  );
}

describe('what is said of a run', () => {
  it('is the same in show, runs, stats, verdict, report and on the page', async () => {
    const repo = makeRepo();
    writeRuns(repo);
    const listed = await json<RunRecord[]>(repo, 'runs');
    const page = await pageViews(repo);
    const html = (await runRalph(['report', '--all', '-o', '-'], repo)).stdout;
    const report = /id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? fail();
    const { views } = JSON.parse(report) as { views: Record<string, RunView> };
    for (const [index, [name, { facts }]] of Object.entries(cases).entries()) {
      const id = idOf(index);
      const [shown, stats, verdict, markdown] = await Promise.all([
        json<RunRecord>(repo, 'show', id),
        json<Record<string, unknown>>(repo, 'stats', id),
        json<Record<string, unknown>>(repo, 'verdict', id),
        runRalph(['report', id, '--md'], repo).then(({ stdout }) => stdout),
      ]);
      const { outcome, iterations, damaged, unknown, costUsd, seconds } = facts;
      expect({ name, ...recordFacts(shown) }).toEqual({ name, ...facts });
      expect({ name, ...recordFacts(listed[index]) }).toEqual({ name, ...facts });
      expect({ name, ...viewFacts(page[index]) }).toEqual({ name, ...facts });
      expect({ name, ...viewFacts(views[id]) }).toEqual({ name, ...facts });
      expect({ name, ...stats }).toMatchObject({
        ...{ name, runs: 1, outcomes: { [outcome ?? 'none']: 1 }, iterations, damaged, unknown },
        ...{ usage: { costUsd }, elapsedMs: seconds * 1000 },
      });
      expect({ name, ...verdict }).toMatchObject({ name, outcome, damaged, unknown });
      expect(markdown).toContain(`## ralph: ${outcome ?? 'not ended'}`);
      expect(markdown).toContain(`| Iterations | ${iterations} of 20 |`);
      expect(markdown).toContain(`| Time | ${formatDuration(seconds * 1000)} |`);
      expect(markdown).toContain(`| Cost | $${costUsd.toFixed(2)} |`);
    }
  });

  it('has a sentence about what was skipped of its journal, wherever a person looks', async () => {
    const repo = makeRepo();
    writeRuns(repo);
    const id = idOf(Object.keys(cases).findIndex((name) => name.includes('damaged')));
    const sentence = '2 damaged lines and 1 event of a newer release in the journal were skipped';
    const outputs = await Promise.all(
      [['show', id], ['runs'], ['stats', id], ['verdict', id], ['watch', id], ['report', id, '--md']].map(
        async (args) => [args[0], await runRalph(args, repo)] as const,
      ),
    );
    for (const [name, { stdout, stderr }] of outputs) {
      expect(`${name}: ${stdout}${stderr}`).toContain(sentence);
    }
  });
});
