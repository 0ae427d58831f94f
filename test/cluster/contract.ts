import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { Claim, Next } from '../../src/cluster/entries.ts';
import type { LoopOrder } from '../../src/cluster/orders.ts';
import type { IterationEnd } from '../../src/fleet/iteration-end.ts';
import { systemClock } from '../../src/os/clock.ts';

const patienceMs = 30_000;

/** A loop for a test, of an agent that is never started. */
export function order(name: string, change: Partial<LoopOrder> = {}): LoopOrder {
  const settings = { prompt_file: '/p.md', max_iterations: 3, done_pattern: 'DONE', inactivity_timeout: 60 };
  return { name, command: ['claude'], cwd: '.', env: {}, tags: [], settings, options: {}, ...change };
}

export function ended(change: Partial<IterationEnd> = {}): IterationEnd {
  return { at: systemClock.now(), how: 'exited', exitCode: 0, doneMatched: false, ...change };
}

/** What there is to claim, as soon as there is something. */
export async function claimed(ask: () => Promise<Claim | null>): Promise<Claim> {
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    const claim = await ask();
    if (claim !== null) return claim;
    if (systemClock.monotonic() > deadline) throw new Error('nothing to claim');
    await systemClock.sleep(20);
  }
}

/** The next iteration: it may be in hand already, or free for all. */
export function following(next: Next, ask: () => Promise<Claim | null>): Promise<Claim> {
  expect(next.kind).toBe('continue');
  return next.kind === 'continue' && next.claim !== null ? Promise.resolve(next.claim) : claimed(ask);
}

/** What a cluster has to do, whatever its store. */
export function describeCluster(title: string, open: () => Promise<Cluster>): void {
  describe(title, () => {
    let cluster: Cluster;
    const ask = () => cluster.claim();

    beforeEach(async () => {
      cluster = await open();
    });
    afterEach(() => cluster.close());

    it('takes a loop of a name once', async () => {
      expect(await cluster.submit(order('a'))).toBe(true);
      expect(await cluster.submit(order('a'))).toBe(false);
      expect(await cluster.list()).toHaveLength(1);
    });

    it('takes the name again when its loop is over, and counts from the start', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      await cluster.finishIteration(claim, ended({ doneMatched: true }));
      expect(await cluster.status('a')).toMatchObject({ status: 'stopped', iteration: 1 });
      expect(await cluster.submit(order('a'))).toBe(true);
      const again = await claimed(ask);
      expect(again).toMatchObject({ name: 'a', iteration: 1 });
      expect(again.token).not.toBe(claim.token);
    });

    it('submitted by ten at once, runs once', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => cluster.submit(order('a'))));
      expect(answers.filter(Boolean)).toHaveLength(1);
      await claimed(ask);
      expect(await cluster.claim()).toBeNull();
    });

    it('gives an iteration to one only, and the next when that is finished', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      expect(claim).toMatchObject({ name: 'a', iteration: 1, maxIterations: 3 });
      expect(await cluster.claim()).toBeNull();
      const next = await cluster.finishIteration(claim, ended());
      expect(await following(next, ask)).toMatchObject({ iteration: 2 });
      expect(await cluster.claim()).toBeNull();
    });

    it('asked by many at once, gives each loop to one', async () => {
      const names = Array.from({ length: 8 }, (_, index) => `loop${index}`);
      for (const name of names) await cluster.submit(order(name));
      const given = await Promise.all(Array.from({ length: 12 }, ask));
      const got = given.flatMap((claim) => claim?.name ?? []);
      expect(new Set(got).size).toBe(got.length);
    });

    it('renews the lease whichever of the claims on it is known: the answer to an end may be on its way', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      const next = await cluster.finishIteration(claim, ended());
      const following = next.kind === 'continue' ? next.claim : null;
      expect(following).toMatchObject({ iteration: 2, lock: claim.lock });
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'go-on' });
      expect(await cluster.heartbeat(following ?? claim)).toEqual({ kind: 'go-on' });
      await cluster.giveBack(following ?? claim);
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'lost' });
    });

    it('ends a loop after its last iteration, or as soon as it is done', async () => {
      const settings = { ...order('').settings, max_iterations: 1, done_pattern: null };
      await cluster.submit(order('a', { settings, command: ['sh'] }));
      const last = await cluster.finishIteration(await claimed(ask), ended());
      expect(last).toEqual({ kind: 'ended', status: 'stopped', exitCode: 0 });
      await cluster.submit(order('b'));
      const done = await cluster.finishIteration(
        await claimed(ask),
        ended({ how: 'done', doneMatched: true }),
      );
      expect(done).toEqual({ kind: 'ended', status: 'stopped', exitCode: 0 });
      expect(await cluster.claim()).toBeNull();
    });

    it('books an end once, and refuses whoever lost the claim', async () => {
      await cluster.submit(order('a'));
      const first = await claimed(ask);
      const once = await cluster.finishIteration(first, ended({ exitCode: 1 }));
      expect(once.kind).toBe('wait');
      await cluster.finishIteration(first, ended({ exitCode: 1 }));
      expect(await cluster.status('a')).toMatchObject({ failures: 1, totalFailures: 1 });
      const second = await claimed(ask);
      await expect(cluster.finishIteration(first, ended())).rejects.toThrow(/not valid any more/);
      expect(await cluster.heartbeat(first)).toEqual({ kind: 'lost' });
      expect(await cluster.heartbeat(second)).toEqual({ kind: 'go-on' });
    });

    it('waits after a failure', async () => {
      await cluster.submit(order('a'));
      const end = ended({ exitCode: 1 });
      const next = await cluster.finishIteration(await claimed(ask), end);
      expect(next).toEqual({ kind: 'wait', until: end.at + 1000 });
      expect(await claimed(ask)).toMatchObject({ iteration: 2 });
      expect(systemClock.now()).toBeGreaterThanOrEqual(end.at + 1000);
    });

    it('runs an iteration again that was given back', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      await cluster.giveBack(claim);
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'lost' });
      const again = await claimed(ask);
      expect(again).toMatchObject({ name: 'a', iteration: 1 });
      await cluster.giveBack(claim);
      expect(await cluster.heartbeat(again)).toMatchObject({ kind: 'go-on' });
    });

    it('pauses after the iteration that runs, and goes on', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      expect(await cluster.pause('a')).toBe(true);
      expect(await cluster.status('a')).toMatchObject({ status: 'paused' });
      expect(await cluster.pause('a')).toBe(false);
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'go-on' });
      expect(await cluster.finishIteration(claim, ended())).toEqual({ kind: 'paused' });
      expect(await cluster.claim()).toBeNull();
      expect(await cluster.resume('a')).toBe(true);
      expect(await claimed(ask)).toMatchObject({ iteration: 2 });
    });

    it('starts nothing of a loop that was paused before, and nothing twice when it is resumed while it runs', async () => {
      await cluster.submit(order('a'));
      await cluster.pause('a');
      expect(await cluster.claim()).toBeNull();
      await cluster.resume('a');
      const claim = await claimed(ask);
      await cluster.pause('a');
      await cluster.resume('a');
      expect(await cluster.claim()).toBeNull();
      const next = await cluster.finishIteration(claim, ended());
      expect(await following(next, ask)).toMatchObject({ iteration: 2 });
      expect(await cluster.claim()).toBeNull();
    });

    it('tells whoever runs a cancelled loop', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(ask);
      expect(await cluster.cancel('a')).toBe(true);
      expect(await cluster.status('a')).toMatchObject({ status: 'stopped' });
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'cancelled' });
      await cluster.giveBack(claim);
      expect(await cluster.claim()).toBeNull();
      expect(await cluster.status('a')).toMatchObject({ status: 'stopped' });
      expect(await cluster.cancel('nobody')).toBe(false);
    });

    it('runs no more at once than allowed', async () => {
      for (const name of ['a', 'b', 'c']) await cluster.submit(order(name));
      await cluster.setLimits({ maxParallel: 2 });
      const first = await claimed(ask);
      await claimed(ask);
      expect(await cluster.claim()).toBeNull();
      await cluster.finishIteration(first, ended({ how: 'done', doneMatched: true }));
      await claimed(ask);
      expect(await cluster.claim()).toBeNull();
      expect((await cluster.limits()).maxParallel).toBe(2);
    });

    it('lets the loops of an account wait together for the end of its usage limit', async () => {
      await cluster.submit(order('a'));
      await cluster.submit(order('b'));
      const first = await claimed(ask);
      const until = systemClock.now() + 1500;
      const next = await cluster.finishIteration(
        first,
        ended({ how: 'limited', exitCode: null, limitUntil: until }),
      );
      expect(next).toEqual({ kind: 'wait', until });
      await cluster.submit(order('c', { command: ['codex'] }));
      expect((await cluster.limits()).holds).toEqual({ claude: until });
      expect(await claimed(ask)).toMatchObject({ name: 'c' });
      const names = [await claimed(ask), await claimed(ask)].map(
        ({ name, iteration }) => `${name}${iteration}`,
      );
      expect(names.sort()).toEqual(['a1', 'b1']);
      expect(systemClock.now()).toBeGreaterThanOrEqual(until);
    });

    it('lets them wait together, and longer each time, where nobody tells the end of the limit', async () => {
      await cluster.submit(order('a'));
      await cluster.submit(order('b'));
      const [a, b] = [await claimed(ask), await claimed(ask)];
      const limited = ended({ how: 'limited', exitCode: null });
      const first = await cluster.finishIteration(a, limited);
      // One that began before meets the same limit, and waits for the same end.
      expect(await cluster.finishIteration(b, limited)).toEqual(first);
      const { holds } = await cluster.limits();
      expect(first).toEqual({ kind: 'wait', until: holds.claude });
      await cluster.releaseAccount('claude');
      for (const name of ['a', 'b']) {
        await cluster.pause(name);
        await cluster.resume(name);
      }
      const [again, other] = [await claimed(ask), await claimed(ask)];
      const at = systemClock.now();
      await cluster.finishIteration(again, { ...limited, at });
      expect((await cluster.limits()).holds.claude).toBe(at + 2 * ((holds.claude ?? 0) - limited.at));
      await cluster.finishIteration(other, ended());
      expect((await cluster.limits()).strikes).toEqual({});
    });

    it('lets a loop that cannot be prepared wait by itself, and pauses it when it is missing three times', async () => {
      await cluster.submit(order('typo'));
      await cluster.submit(order('b'));
      const why = 'there is no branch x';
      for (const look of [1, 2]) {
        const claim = await claimed(ask);
        expect(claim).toMatchObject({ name: 'typo', iteration: 1 });
        await cluster.giveBack(claim, { kind: 'missing', why });
        expect(await cluster.status('typo')).toMatchObject({
          status: 'running',
          failures: 0,
          why: { state: 'backoff', detail: why },
        });
        if (look === 1) expect(await claimed(ask)).toMatchObject({ name: 'b' });
      }
      await cluster.giveBack(await claimed(ask), { kind: 'missing', why });
      expect(await cluster.status('typo')).toMatchObject({
        status: 'paused',
        why: { state: 'paused', detail: why },
        end: { outcome: 'BLOCKED', exitCode: 4 },
        iteration: 0,
      });
      await cluster.resume('typo');
      const claim = await claimed(ask);
      expect(claim).toMatchObject({ name: 'typo', iteration: 1 });
      await cluster.giveBack(claim, { kind: 'unprepared', why });
      expect(await cluster.status('typo')).toMatchObject({ status: 'running', end: null });
    });

    it('pauses a loop whose iteration ended three workers, and counts none of them as a failure', async () => {
      await cluster.submit(order('a'));
      for (const worker of [1, 2, 3]) {
        expect(await cluster.status('a')).toMatchObject({ status: 'running', failures: 0 });
        await cluster.giveBack(await claimed(ask), { kind: 'died', why: `worker ${worker} died` });
      }
      const text = 'iteration 1 has ended 3 workers that ran it';
      expect(await cluster.status('a')).toMatchObject({
        status: 'paused',
        end: { outcome: 'NEEDS_DECISION', because: { text }, exitCode: 4 },
        why: { state: 'paused', detail: text },
      });
      expect(await cluster.claim()).toBeNull();
      await cluster.resume('a');
      expect(await claimed(ask)).toMatchObject({ name: 'a', iteration: 1 });
    });

    it('gives a loop only to machines that have its agent, and where that works', async () => {
      const by = (host: string, agents: string[], faults = {}) => ({ host, labels: [], agents, faults });
      await cluster.submit(order('a'));
      expect(await cluster.claim(by('one', ['codex']))).toBeNull();
      expect(await cluster.claim(by('two', ['claude'], { claude: 'not logged in' }))).toBeNull();
      expect(await cluster.claim(by('three', ['claude'], { '*': 'its disk is full' }))).toBeNull();
      const claim = await claimed(() => cluster.claim(by('four', ['claude'], { codex: 'gone' })));
      await cluster.giveBack(claim, { kind: 'machine', why: 'not logged in' });
      expect(await cluster.status('a')).toMatchObject({ status: 'running', failures: 0, waitUntil: null });
      expect((await cluster.hosts()).find(({ host }) => host === 'two')).toMatchObject({
        agents: ['claude'],
        faults: { claude: 'not logged in' },
      });
      await cluster.submit(order('b', { command: ['/opt/claude'] }));
      expect(await claimed(() => cluster.claim(by('one', [])))).toMatchObject({ name: 'b' });
    });
  });
}
