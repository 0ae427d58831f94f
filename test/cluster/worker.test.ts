import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckout } from '../../src/cluster/checkout.ts';
import { placesIn } from '../../src/cluster/places.ts';
import { commitWork, pushWork } from '../../src/cluster/publish.ts';
import { readJournal } from '../../src/journal/journal.ts';
import { runIdFor } from '../../src/journal/runs.ts';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { bwrapWorks } from '../sandbox/support.ts';
import { tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { missing, startRedis, type TestStore } from '../support/stores.ts';
import { makeWorld, patience, signal, worker } from './machines.ts';

/** Lease of a loop that nobody is to take over, however busy the machine is. */
const noTakeover = 60_000;

describe.skipIf(missing.redis !== null)('swarm worker', { timeout: 120_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store.stop());

  it('runs known agents through ralph run, until a claim is accepted', async () => {
    const world = await makeWorld(store, noTakeover);
    const claim = { text: '<promise>DONE</promise>' };
    const turns = [{ steps: [claim] }, { steps: [work, { text: 'not yet' }] }, { steps: [work, claim] }];
    const agent = await installFakeAgent(world.bin, { agent: 'claude', script: { turns } });
    world.machine('one');
    await world.submit('a', 'claude', {
      max_iterations: 5,
      options: { run: ['--completion-promise=DONE', '--verify=test -e work.txt'] },
    });
    expect(await world.over('a')).toBe('stopped');
    expect(await agent.calls()).toHaveLength(3);
    expect(world.iterations('a')).toEqual([1, 2, 3]);
    expect(await world.cluster.status('a')).toMatchObject({ why: { state: 'done' }, iteration: 3 });
  });

  it('goes on with what counts over iterations, and with what the agent is to be told, on another machine', async () => {
    const world = await makeWorld(store);
    const go = join(world.home, 'go');
    const steps = [{ shell: `while [ ! -e '${go}' ]; do sleep 0.05; done` }, { text: tag }];
    const agent = await installFakeAgent(world.bin, { agent: 'claude', script: { turns: [{ steps }] } });
    await world.submit('a', 'claude', {
      max_iterations: 9,
      options: { run: ['--completion-promise=DONE', '--verify=test -e never.txt', '--stuck-after=3'] },
    });
    const one = world.machine('one');
    await waitUntil(async () => (await agent.calls()).length === 1, patience);
    one.child.kill('SIGTERM');
    await waitUntil(() => /shutting down/.test(one.text()), patience);
    writeFileSync(go, '');
    expect((await one.done).code).toBe(0);
    rmSync(go);
    const two = world.machine('two');
    await waitUntil(async () => (await agent.calls()).length === 2, patience);
    // Nor does an iteration that is cut there begin anew.
    signal(two.processes(), 'SIGKILL');
    await waitUntil(async () => (await agent.calls()).length === 3, patience);
    writeFileSync(go, '');
    expect(await world.over('a')).toBe('failed');
    expect(world.iterations('a')).toEqual([1, 2, 3]);
    const calls = await agent.calls();
    expect(calls).toHaveLength(4);
    for (const { prompt } of calls.slice(1))
      expect(prompt).toContain('Your claim was checked with "test -e never.txt", which failed');
    expect((await world.cluster.status('a'))?.why.detail).toBe('3 iterations in a row changed nothing');
  });

  it('does not run an iteration again whose commit is on the branch, and books how it ended', async () => {
    const world = await makeWorld(store);
    await world.submit('a', world.agent('agent', worker('0')), { max_iterations: 3 });
    const view = await world.cluster.status('a');
    const job = world.job('a', String(view?.startedAt));
    const opened = await openCheckout(placesIn(join(world.home, 'dead')), job);
    if ('why' in opened) throw new Error(opened.why);
    writeFileSync(join(opened.checkout.path, 'work.txt'), '1\n');
    const { commit } = await commitWork(opened.checkout, job, 1, {
      how: 'exited',
      exitCode: 7,
      doneMatched: false,
    });
    await pushWork(opened.checkout, job, commit ?? '');

    world.machine('one');
    expect(await world.over('a')).toBe('stopped');
    expect(world.log('ran.txt')).not.toContain('start a 1');
    expect(world.problems('a', 3)).toEqual([]);
    expect((await world.cluster.status('a'))?.totalFailures).toBe(1);
  });

  it('ends after the iteration with the done pattern, restarts a silent agent, and counts what failed', async () => {
    const world = await makeWorld(store);
    world.machine('one', { words: ['--no-sandbox', '--slots', '3'] });
    const says = 'cat >/dev/null; echo ALL DONE';
    await world.submit('done', world.agent('one', `${says}; sleep 1; echo >after.txt`), {
      done_pattern: 'ALL DONE',
    });
    await world.submit('silent', world.agent('two', 'cat >/dev/null; sleep 60'), {
      inactivity_timeout: 1,
      max_iterations: 2,
    });
    await world.submit('fails', world.agent('three', 'exit 3'), { max_iterations: 2 });
    expect(await world.over('done')).toBe('stopped');
    expect(await world.cluster.status('done')).toMatchObject({ iteration: 1, why: { state: 'done' } });
    const isLogged = async () =>
      (await world.cluster.log('done')).at(-2)?.includes('[END] iteration 1 exit=0 ');
    await waitUntil(isLogged, { ...patience, what: 'the log' });
    expect(await world.over('silent')).toBe('stopped');
    expect(world.iterations('silent')).toEqual([1, 2]);
    expect(await world.over('fails')).toBe('stopped');
    expect(await world.cluster.status('fails')).toMatchObject({ iteration: 2, totalFailures: 2 });
  });

  it('says done only of what is done, to whoever waits', async () => {
    const world = await makeWorld(store);
    world.machine('one', { words: ['--no-sandbox', '--slots', '4'] });
    const pattern = { done_pattern: 'ALL DONE', max_iterations: 2 };
    const says = world.agent('says', 'cat >/dev/null; echo ALL DONE; sleep 600');
    await world.submit('at-once', says, { ...pattern, options: { checkDoneContinuous: true } });
    await world.submit('silent', says, { ...pattern, inactivity_timeout: 1 });
    await world.submit('never', world.agent('never', 'cat >/dev/null; echo working'), pattern);
    await world.submit('plain', world.agent('plain', 'cat >/dev/null'), { max_iterations: 1 });
    const swarm = (...words: string[]) =>
      runRalph([...words, '--cluster', world.url], { ...world, program: 'swarm' });
    const all = await swarm('wait', '--all');
    expect(all.code).toBe(1);
    expect(all.stdout.trimEnd().split('\n').sort()).toEqual([
      'at-once: exited, done (done pattern matched, stopping loop)',
      'never: exited, not done (2 iterations are used up)',
      'plain: exited, done (loop complete after 1 iteration)',
      'silent: exited, done (done pattern matched, stopping loop)',
    ]);
    for (const name of ['at-once', 'silent', 'plain'])
      expect(await world.cluster.status(name)).toMatchObject({ iteration: 1, end: { exitCode: 0 } });
    expect((await world.cluster.log('at-once')).at(-2)).toContain('[END] iteration 1 exit=unknown ');
    expect((await world.cluster.log('silent')).at(-2)).toContain('[TIMEOUT] iteration 1 ');
    expect((await swarm('ls')).stdout).toMatch(/^never +not done /m);
    expect((await swarm('status', 'never')).stdout).toMatch(/^never: stopped \(not done, iteration 2\/2, /);
    expect((await swarm('ralph', 'status', 'never')).stdout).toContain('\nWhy: not done (2 iterations ');
    expect((await swarm('ralph', 'ls')).stdout).toMatch(/^never +stopped +2\/2 .*not done /m);
  });

  it('ends the agent of a loop that somebody cancels, and keeps its work', async () => {
    const world = await makeWorld(store);
    const one = world.machine('one');
    await world.submit('a', world.agent('agent', `${worker('0')}; sleep 60`));
    await waitUntil(() => world.log('ran.txt').includes('end a 1'), patience);
    await world.cluster.cancel('a');
    await waitUntil(() => one.processes().length === 0, { ...patience, what: 'the end of the agent' });
    expect(world.keptBy(one)).toHaveLength(1);
    expect(world.iterationsNow('a')).toEqual([]);
  });

  it('writes into the journal of a run that somebody cancelled the loop', async () => {
    const world = await makeWorld(store);
    const turns = [{ steps: [work, { text: 'more' }] }, { steps: [work, { hang: true as const }] }];
    const agent = await installFakeAgent(world.bin, { agent: 'claude', script: { turns } });
    const one = world.machine('one');
    await world.submit('a', 'claude', { options: { run: ['--completion-promise=DONE'] } });
    await waitUntil(async () => (await agent.calls()).length === 2, patience);
    await world.cluster.cancel('a');
    const view = await world.cluster.status('a');
    const kept = join(one.dir, 'loops', 'a', `runs-${view?.startedAt}`);
    await waitUntil(() => existsSync(kept), { ...patience, what: 'the end of the run' });
    const journal = join(kept, runIdFor('a', view?.startedAt ?? 0), 'journal.ndjson');
    const { end } = view ?? {};
    expect(readJournal(journal).events.at(-1)).toMatchObject({ type: 'run.ended', ...end, iterations: 2 });
    expect(end?.outcome).toBe('CANCELLED');
  });

  it('gives the whole record of a loop to whoever asks for it', async () => {
    const world = await makeWorld(store);
    world.machine('one');
    const script = 'cat >/dev/null; seq 1 50000; echo "iteration $RALPH_ITERATION"; sleep 0.1';
    await world.submit('a', world.agent('agent', script), { max_iterations: 2 });
    expect(await world.over('a')).toBe('stopped');
    const tail = await world.cluster.tail('a');
    expect(tail?.length).toBeLessThan(100_000);
    expect(tail).toContain('iteration 2');
    const words = ['logs', 'a', '--cluster', world.url, '--history'];
    // The worktree of a loop that is over is gone; its record is not.
    await waitUntil(() => !existsSync(join(world.home, 'one/trees/a')), patience);
    const { stdout, stderr, code } = await runRalph(words, { ...world, program: 'swarm' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const numbers = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
    const part = (n: number) => `== iteration ${n} on one ==\n${numbers}iteration ${n}\n`;
    expect(stdout).toBe(`${part(1)}\n${part(2)}`);
  });

  it('lets no second worker into its folder', async () => {
    const world = await makeWorld(store);
    const one = world.machine('one');
    await waitUntil(() => /takes loops/.test(one.text()), patience);
    const two = await world.machine('one').done;
    expect(two.code).toBe(1);
    expect(two.stderr).toMatch(/a worker \(process \d+\) has the folder .* already/);
    expect(two.stderr).toContain('--dir');
  });

  it('tells the agent nothing of the store, and pauses a loop that nobody can run', async () => {
    const world = await makeWorld(store);
    const one = world.machine('one', {
      env: {
        SWARM_CLUSTER: `redis://user:hunter2@${new URL(world.url).host}/0`,
        SWARM_CLUSTER_PASSWORD: 'x',
      },
    });
    await world.submit('a', world.agent('agent', 'env >"$LOG"; echo >>work.txt'), { max_iterations: 1 });
    await world.submit('b', world.agent('agent', 'true'), {
      source: { branch: 'x', base: 'no-such-branch' },
    });
    expect(await world.over('a')).toBe('stopped');
    expect(world.log('ran.txt').filter((line) => /SWARM_CLUSTER|hunter2/.test(line))).toEqual([]);
    await waitUntil(async () => (await world.cluster.status('b'))?.status === 'paused', patience);
    const { events } = await world.cluster.timeline('b');
    expect(events.map(({ text }) => text).join('\n')).toContain('no branch x and no branch no-such-branch');
    expect(one.child.exitCode).toBeNull();
  });

  it('refuses to work where there is no sandbox, and says what to do', async () => {
    const world = await makeWorld(store);
    // A PATH with git and node alone.
    const bin = join(world.home, 'few');
    mkdirSync(bin);
    for (const program of ['git', 'node', 'sh']) {
      symlinkSync(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(bin, program));
    }
    const machine = await world.machine('one', { words: [], env: { PATH: bin }, bin }).done;
    expect(machine.code).toBe(2);
    expect(machine.stderr).toContain('there is no sandbox on this machine');
    expect(machine.stderr).toContain('--no-sandbox');
  });

  it.skipIf(!bwrapWorks())(
    'keeps agents in a sandbox by default, from where the work still gets out',
    async () => {
      const world = await makeWorld(store);
      writeFileSync(join(world.home, 'secret'), 'hunter2');
      const script = [
        'cat >/dev/null',
        `cat '${join(world.home, 'secret')}' >found.txt 2>&1`,
        `touch '${join(world.home, 'escaped')}'`,
        `git push '${world.origin}' HEAD:refs/heads/mine`,
        'git -c user.name=a -c user.email=a@example.com commit --allow-empty --quiet --message=mine',
        'echo "$RALPH_ITERATION" >>work.txt',
      ].join('\n');
      const agent = world.agent('agent', script);
      world.machine('one', { words: [] });
      await world.submit('a', agent, { max_iterations: 2 });
      expect(await world.over('a')).toBe('stopped');
      expect(world.problems('a', 2)).toEqual([]);
      const show = (what: string) =>
        execFileSync('git', ['-C', world.origin, 'show', what], { encoding: 'utf8' });
      expect(show('a:found.txt')).toContain('No such file');
      expect(existsSync(join(world.home, 'escaped'))).toBe(false);
      const branches = execFileSync('git', ['-C', world.origin, 'branch'], { encoding: 'utf8' });
      expect(branches).not.toContain('mine');
      expect(readFileSync(join(world.home, 'secret'), 'utf8')).toBe('hunter2');
    },
  );
});
