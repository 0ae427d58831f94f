import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { claimed, describeCluster, ended, following, order } from '../../test/cluster/contract.ts';
import { waitUntil } from '../../test/support/processes.ts';
import { missing, startRedis, type TestStore } from '../../test/support/stores.ts';
import { systemClock } from '../os/clock.ts';
import { clusterAddress } from './address.ts';
import type { Cluster } from './cluster.ts';
import { startDriver } from './driver-process.ts';
import { type HoldSpec, holdLoop } from './hold.ts';
import type { Claimant } from './hosts.ts';
import { type ClusterOptions, openCluster } from './open.ts';
import { openRedis } from './redis.ts';
import type { Store } from './store.ts';

/** Short, so that the tests need not wait for long; still long enough for a busy machine to renew in time. */
const shortLease = { leaseMs: 2000 };

const one: Claimant = { host: 'one', labels: [] };
const two: Claimant = { host: 'two', labels: ['gpu', 'big'] };
const source = { repo: 'ssh://git/app', branch: 'ralph/a', base: null, prompt: 'do it', pass: ['API_KEY'] };

describe.skipIf(missing.redis !== null)('a cluster', () => {
  let store: TestStore;
  let url = '';

  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store?.stop());

  const openAt = (place: string, options?: ClusterOptions) => {
    const address = clusterAddress(place, {});
    if (address === null) throw new Error('no address');
    return openCluster(address, options);
  };

  const openInside = (place: string): Promise<Store> => {
    const address = clusterAddress(place, {});
    if (address === null) throw new Error('no address');
    const times = { leaseMs: 900_000, callMs: 5000 };
    return openRedis(address, times);
  };

  describeCluster('as one machine sees it', async () => openAt(await store.fresh()));

  describe('over several machines', () => {
    let cluster: Cluster;

    beforeEach(async () => {
      url = await store.fresh();
      cluster = await openAt(url, { leaseMs: 120_000 });
    });
    afterEach(() => cluster.close());

    it('keeps what was submitted, and shows it', async () => {
      const given = order('a', { source, labels: ['gpu'], tags: ['t'] });
      await cluster.submit(given);
      // A known agent is run by `ralph run`.
      expect(await cluster.order('a')).toEqual({ ...given, options: { run: ['--done-pattern=DONE'] } });
      expect(await cluster.status('a')).toMatchObject({
        name: 'a',
        host: null,
        repo: source.repo,
        branch: 'ralph/a',
        labels: ['gpu'],
        tags: ['t'],
        account: 'claude',
      });
      expect(await cluster.order('b')).toBeNull();
    });

    it('submitted by several at once, runs the order that it shows, and nothing of the others stays', async () => {
      const other = await openAt(url, { leaseMs: 120_000 });
      onTestFinished(() => other.close());
      const inside = await openInside(url);
      onTestFinished(() => inside.close());
      for (let round = 0; round < 8; round++) {
        const name = `loop${round}`;
        const answers = await Promise.all(
          ['claude', 'codex', 'gemini', 'opencode'].map((agent, index) =>
            (index % 2 === 0 ? cluster : other).submit(order(name, { command: [agent, name] })),
          ),
        );
        expect(answers.filter(Boolean)).toHaveLength(1);
        const view = await other.status(name);
        expect((await cluster.order(name))?.command).toEqual(view?.command);
        expect((await inside.all('orders')).size).toBe(round + 1);
        expect((await cluster.timeline(name)).events.map(({ type }) => type)).toEqual(['spawned']);
        expect(await claimed(() => other.claim(one))).toMatchObject({ name });
        expect(await cluster.claim(two)).toBeNull();
      }
    });

    it('gives the iteration of a machine that fell silent to another', async () => {
      const quick = await openAt(url, shortLease);
      onTestFinished(() => quick.close());
      await quick.submit(order('a'));
      const lost = await claimed(() => quick.claim(one));
      const other = await openAt(url, shortLease);
      const claim = await claimed(() => other.claim(two));
      expect(claim).toMatchObject({ name: 'a', iteration: 1 });
      expect(await quick.status('a')).toMatchObject({ host: 'two' });
      expect((await quick.timeline('a')).events.map(({ text }) => text)).toEqual([
        'submitted',
        'starting iteration 1/3 on one',
        'one was silent, two runs iteration 1 again',
        'starting iteration 1/3 on two',
      ]);
      expect(await quick.heartbeat(lost)).toEqual({ kind: 'lost' });
      await expect(quick.finishIteration(lost, ended())).rejects.toThrow(/not valid any more/);
      expect(
        await following(await other.finishIteration(claim, ended()), () => other.claim(two)),
      ).toMatchObject({
        iteration: 2,
      });
      await other.close();
    });

    it('leaves a loop with the machine that renews it, whoever does that', async () => {
      const quick = await openAt(url, shortLease);
      onTestFinished(() => quick.close());
      await quick.submit(order('a'));
      const claim = await claimed(() => quick.claim(one));
      const other = await openAt(url, shortLease);
      const until = systemClock.monotonic() + 1.5 * shortLease.leaseMs;
      while (systemClock.monotonic() < until) {
        expect(await other.heartbeat(claim)).toEqual({ kind: 'go-on' });
        expect(await other.claim(two)).toBeNull();
        await systemClock.sleep(200);
      }
      await other.close();
    });

    it('frees the place of a machine that fell silent', async () => {
      const quick = await openAt(url, shortLease);
      onTestFinished(() => quick.close());
      await quick.setLimits({ maxParallel: 1 });
      await quick.submit(order('a'));
      await quick.submit(order('b'));
      await claimed(() => quick.claim(one));
      expect(await quick.claim(two)).toBeNull();
      expect((await claimed(() => quick.claim(two))).iteration).toBe(1);
      expect(await quick.claim(two)).toBeNull();
    });

    it('answers the same to whoever did not hear how an iteration went on', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(() => cluster.claim(one));
      const first = await cluster.finishIteration(claim, ended());
      expect(await cluster.finishIteration(claim, ended())).toEqual(first);
      expect(await cluster.status('a')).toMatchObject({ iteration: 2 });
    });

    it('gives a loop that was submitted anew for another account to one machine only', async () => {
      const quick = await openAt(url, shortLease);
      onTestFinished(() => quick.close());
      await quick.submit(order('a'));
      const old = await claimed(() => quick.claim(one));
      await quick.cancel('a');
      await quick.submit(order('a', { command: ['codex'] }));
      const claim = await claimed(() => quick.claim(two));
      const until = systemClock.monotonic() + 1.5 * shortLease.leaseMs;
      while (systemClock.monotonic() < until) {
        expect(await quick.heartbeat(claim)).toEqual({ kind: 'go-on' });
        expect(await quick.claim(one)).toBeNull();
        await systemClock.sleep(200);
      }
      expect(await quick.heartbeat(old)).toEqual({ kind: 'lost' });
    });

    it('places loops by their labels', async () => {
      await cluster.submit(order('a', { labels: ['gpu'] }));
      expect(await cluster.claim(one)).toBeNull();
      expect(await claimed(() => cluster.claim(two))).toMatchObject({ name: 'a' });
    });

    it('lets no more iterations begin in a minute than allowed', async () => {
      await cluster.setLimits({ startsPerMinute: 3 });
      for (const name of ['a', 'b', 'c']) await cluster.submit(order(name));
      const first = await claimed(() => cluster.claim(one));
      await claimed(() => cluster.claim(one));
      const next = await cluster.finishIteration(first, ended());
      expect(next).toMatchObject({ kind: 'continue', claim: { iteration: 2 } });
      expect(await cluster.claim(one)).toBeNull();
      const again = next.kind === 'continue' ? next.claim : null;
      if (again === null) throw new Error('not given');
      expect(await cluster.finishIteration(again, ended({ doneMatched: true }))).toMatchObject({
        kind: 'ended',
      });
      await cluster.setLimits({ startsPerMinute: null });
      expect(await claimed(() => cluster.claim(one))).toMatchObject({ name: 'c' });
    });

    it('gives a loop back at the end of its iteration when no other may begin', async () => {
      await cluster.setLimits({ startsPerMinute: 1 });
      await cluster.submit(order('a'));
      const next = await cluster.finishIteration(await claimed(() => cluster.claim(one)), ended());
      expect(next).toMatchObject({ kind: 'wait' });
      expect(await cluster.status('a')).toMatchObject({ host: null, iteration: 1 });
      expect(await cluster.claim(two)).toBeNull();
    });

    it('moves the loops of a machine that drains after their iteration', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(() => cluster.claim(one));
      expect(await cluster.drain('one', true)).toEqual(['one']);
      expect(await cluster.heartbeat(claim)).toEqual({ kind: 'go-on' });
      expect(await cluster.finishIteration(claim, ended())).toEqual({ kind: 'continue', claim: null });
      expect(await cluster.claim(one)).toBeNull();
      expect(await claimed(() => cluster.claim(two))).toMatchObject({ name: 'a', iteration: 2 });
      expect(await cluster.hosts()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ host: 'one', draining: true, loops: [] }),
          expect.objectContaining({ host: 'two', draining: false, loops: ['a'], labels: two.labels }),
        ]),
      );
      await cluster.drain(null, false);
      expect((await cluster.hosts()).some(({ draining }) => draining)).toBe(false);
    });

    it('knows which machines are gone, and forgets them after a day unless they drain', async () => {
      let later = 0;
      const ahead = await openAt(url, { ...shortLease, now: () => systemClock.now() + later });
      onTestFinished(() => ahead.close());
      await ahead.submit(order('a'));
      const claim = await claimed(() => ahead.claim(one));
      await ahead.drain('three', true);
      const states = async () =>
        Object.fromEntries((await ahead.hosts()).map(({ host, gone }) => [host, gone]));
      expect(await states()).toEqual({ one: false, three: true });
      later = 10 * 60_000;
      expect(await states()).toEqual({ one: true, three: true });
      await ahead.heartbeat(claim);
      expect(await states()).toEqual({ one: false, three: true });
      later = 25 * 60 * 60_000;
      await ahead.register(two, 'id-2');
      expect(await states()).toEqual({ two: false, three: true });
    });

    it('keeps nothing of a loop that was forgotten or submitted anew, also if a machine reports late', async () => {
      const inside = await openInside(url);
      onTestFinished(() => inside.close());
      const news = { tail: 'x', runState: '{}', events: [{ at: 1, type: 'screen', text: 'late' }] } as const;
      const traces = async (key: string) => [
        ...(await Promise.all(
          (['orders', 'tails', 'runStates'] as const).map((one) => inside.get(one, key)),
        )),
        ...(await inside.last('log', key, 9)),
        ...(await inside.last('events', key, 9)),
      ];
      const keyOf = async () => JSON.parse((await inside.get('loops', 'a')) ?? '').key;
      await cluster.submit(order('a'));
      const claim = await claimed(() => cluster.claim(one));
      await cluster.report(claim, news);
      const key = await keyOf();
      expect((await traces(key)).filter(Boolean)).toHaveLength(7);
      await cluster.cancel('a');
      await cluster.submit(order('a'));
      expect(await traces(key)).toEqual([null, null, null]);
      const next = await keyOf();
      await cluster.cancel('a');
      await cluster.forget('a');
      await cluster.report(claim, news);
      await inside.put('tails', key, 'late');
      await inside.append('events', key, ['late'], 9);
      for (const one of [key, next]) expect(await traces(one)).toEqual([null, null, null]);
    });

    it('gives each of several machines with one name a name of its own, and the same again', async () => {
      let later = 0;
      const ahead = await openAt(url, { ...shortLease, now: () => systemClock.now() + later });
      onTestFinished(() => ahead.close());
      expect(await cluster.register(one, 'id-1')).toBe('one');
      expect(await cluster.register(one, 'id-2')).toBe('one-2');
      await cluster.claim(one);
      expect(await cluster.register(one, 'id-3')).toBe('one-3');
      expect(await cluster.register(one, 'id-2')).toBe('one-2');
      expect(await cluster.register(one, 'id-1')).toBe('one');
      later = 10 * 60_000;
      expect(await ahead.register(one, 'id-4')).toBe('one');
    });

    it('ends a loop as its run decided, and starts nothing when the budget of all is spent', async () => {
      await cluster.submit(order('a'));
      await cluster.submit(order('b'));
      await cluster.setLimits({ maxCostUsd: 2 });
      const claims = [await claimed(() => cluster.claim(one)), await claimed(() => cluster.claim(one))];
      const [a, b] = claims.sort((x, y) => (x.name < y.name ? -1 : 1));
      if (a === undefined || b === undefined) throw new Error('two claims');
      const spent = { costUsd: 1, tokens: 10 };
      const because = { code: 'budget-cost', text: '$1.00 of $1.00 are spent' };
      const counts = { iterations: 1, failures: 0, maxFailures: 5 };
      const decision = { kind: 'stop', outcome: 'BUDGET_SPENT', because, ...counts } as const;
      const over = { kind: 'ended', status: 'failed', exitCode: 7 };
      expect(await cluster.finishIteration(a, ended({ spent, decision }))).toEqual(over);
      const end = { outcome: 'BUDGET_SPENT', because, exitCode: 7 };
      expect(await cluster.status('a')).toMatchObject({ status: 'failed', spent, end });
      expect(await cluster.finishIteration(b, ended({ spent }))).toEqual({ kind: 'continue', claim: null });
      expect(await cluster.limits()).toMatchObject({ maxCostUsd: 2, spentUsd: 2 });
      expect(await cluster.claim(one)).toBeNull();
      await cluster.setLimits({ maxCostUsd: 9 });
      expect(await claimed(() => cluster.claim(one))).toMatchObject({ name: 'b', iteration: 2 });
    });

    it('keeps a bounded tail and timeline, whatever is in them', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(() => cluster.claim(one));
      const nasty = `'"\`$(id)\u0000\u001b[2J😀\ud800\n`;
      const at = 1;
      await cluster.report(claim, {
        why: { state: 'working', since: at, detail: nasty },
        tail: nasty + 'x'.repeat(100_000),
        events: Array.from({ length: 600 }, (_, index) => ({
          at,
          type: 'screen' as const,
          text: `${index}${nasty}`,
        })),
        head: 'abc',
      });
      expect((await cluster.tail('a'))?.length).toBe(64 * 1024);
      const { events } = await cluster.timeline('a');
      expect(events).toHaveLength(500);
      expect(events.at(-1)?.text).toContain('599');
      expect(await cluster.status('a')).toMatchObject({ head: 'abc', why: { state: 'working' } });
      await cluster.report(claim, { tail: nasty });
      expect(await cluster.tail('a')).toContain('$(id)');
      await cluster.cancel('a');
      await cluster.report(claim, { head: 'late' });
      expect(await cluster.status('a')).toMatchObject({ head: 'abc' });
    });

    it('ends a process whose messages are none, and gives the loop to others', async () => {
      await cluster.submit(order('a', { source }));
      const script = `process.send({ type: 'ended', iteration: 'one' }); setInterval(() => {}, 1000)`;
      const never = new AbortController().signal;
      const rules = { folder: '/', sandbox: 'none', allowHosts: [], ralph: [], leaseMs: 120_000 } as const;
      const driver = [process.execPath, '-e', script] as const;
      const machine = { rules, clock: systemClock, say() {} };
      const start: HoldSpec['start'] = (runId, hear) =>
        startDriver({ ...machine, driver, env: {} }, runId, hear);
      const spec = { ...machine, cluster, start, leaving: never, stop: never };
      const claim = await claimed(() => cluster.claim(one));
      expect(await holdLoop(spec, claim)).toBeNull();
      const { events } = await cluster.timeline('a');
      expect(events.at(-1)?.text).toContain('the process that ran it has died');
      expect(await claimed(() => cluster.claim(two))).toMatchObject({ name: 'a', iteration: 1 });
    });

    it('counts what it cannot read of a timeline', async () => {
      await cluster.submit(order('a'));
      const inside = await openInside(url);
      onTestFinished(() => inside.close());
      const { key } = JSON.parse((await inside.get('loops', 'a')) ?? '');
      await inside.append('events', key, ['{"at":1,"ty', '{"at":1,"type":"from-the-future","text":""}'], 10);
      expect(await cluster.timeline('a')).toMatchObject({
        events: [{ type: 'spawned' }],
        damaged: 1,
        unknown: 1,
      });
    });

    it('does not call the loop of a known agent done when its iterations are used up', async () => {
      const settings = { ...order('').settings, max_iterations: 1, done_pattern: null };
      await cluster.submit(order('a', { settings }));
      const next = await cluster.finishIteration(await claimed(() => cluster.claim(one)), ended());
      expect(next).toEqual({ kind: 'ended', status: 'stopped', exitCode: 1 });
      expect(await cluster.status('a')).toMatchObject({ why: { state: 'unfinished' } });
    });

    it('counts anew what nobody runs, and ends what is complete by that', async () => {
      await cluster.submit(order('a'));
      expect(await cluster.recount('a', 2)).toBe(true);
      expect(await cluster.recount('a', 2)).toBe(false);
      const claim = await claimed(() => cluster.claim(one));
      expect(claim).toMatchObject({ iteration: 3 });
      expect(await cluster.recount('a', 3)).toBe(false);
      await cluster.giveBack(claim);
      await cluster.recount('a', 3);
      expect(await cluster.claim(one)).toBeNull();
      expect(await cluster.status('a')).toMatchObject({
        status: 'stopped',
        iteration: 3,
        why: { state: 'unfinished' },
      });
    });

    it('forgets a loop that is over, and passes messages once', async () => {
      await cluster.submit(order('a'));
      expect(await cluster.forget('a')).toBe(false);
      await cluster.cancel('a');
      expect(await cluster.forget('a')).toBe(true);
      expect(await cluster.list()).toEqual([]);
      expect(await cluster.order('a')).toBeNull();
      await cluster.post('box', 'first');
      await cluster.post('box', 'second');
      expect([await cluster.take('box'), await cluster.take('box'), await cluster.take('box')]).toEqual([
        'first',
        'second',
        null,
      ]);
    });

    it('goes on after the store was killed and came back', async () => {
      await cluster.submit(order('a'));
      const claim = await claimed(() => cluster.claim(one));
      await store.restart();
      const finish = () => cluster.finishIteration(claim, ended()).catch(() => null);
      const next = await waitUntil(finish, { timeoutMs: 60_000 });
      if (next === null) throw new Error('not finished');
      expect(await following(next, () => cluster.claim(one))).toMatchObject({ name: 'a', iteration: 2 });
    }, 180_000);
  });
});
