import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLoop } from '../../src/store/fleet-loops.ts';
import { readRun } from '../../src/store/runs.ts';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { makeWorld } from '../cluster/machines.ts';
import { repoWith, runArgs, show } from '../support/agent.ts';
import { runRalph } from '../support/ralph.ts';
import { missing, startRedis, type TestStore } from '../support/stores.ts';
import { makeFleet } from './fleet.ts';

const settings = { maxFailures: 6 };
const script = { turns: [{ steps: [{ text: 'I cannot.' }], exitCode: 1 }] };
const promise = '--completion-promise=DONE';

/** What a journal says of the end of its run. */
function endOf({ view }: ReturnType<typeof readRun>) {
  const { outcome, because, exitCode, iteration } = view;
  return { outcome, because, exitCode, iterations: iteration };
}

async function underRun() {
  const repo = await repoWith(script.turns, settings);
  const { code } = await runRalph(runArgs(9), repo);
  return { ...endOf(readRun(repo.cwd, (await show(repo)).run)), exitCode: code };
}

async function underSwarm() {
  const fleet = makeFleet({ files: { 'PROMPT.md': 'Do the task.\n' }, settings });
  await installFakeAgent(fleet.bin, { agent: 'claude', script });
  const words = ['--name', 'a', '--ralph', '--run', '--prompt-file', 'PROMPT.md', '--max-iterations', '9'];
  await fleet.swarm('spawn', ...words, '--tmux-socket', fleet.socket, promise, '--', 'claude');
  await fleet.until('a', 'stopped', 'failed');
  const loop = readLoop({ SWARM_HOME: join(fleet.home, '.swarm') }, 'a');
  const record = { ...loop?.end, because: loop?.end?.because.text, iterations: loop?.iteration };
  return { record, journal: endOf(readRun(fleet.cwd, loop?.options.runId ?? '')) };
}

async function underCluster(store: TestStore) {
  const world = await makeWorld(store);
  await installFakeAgent(world.bin, { agent: 'claude', script });
  const machine = world.machine('one', { env: { RALPH_MAX_FAILURES: '6' } });
  await world.submit('a', 'claude', { max_iterations: 9, options: { run: [promise] } });
  await world.over('a');
  const view = await world.cluster.status('a');
  machine.child.kill('SIGTERM');
  await machine.done;
  const kept = join(machine.dir, 'loops', 'a', `runs-${view?.startedAt}`);
  const [run = ''] = readdirSync(kept);
  const ends = readFileSync(join(kept, run, 'journal.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"run.ended"'))
    .map((line) => JSON.parse(line));
  const record = { ...view?.end, because: view?.end?.because.text, iterations: view?.iteration };
  const journal = ends.map(({ outcome, because, exitCode, iterations }) => ({
    outcome,
    because: because.text,
    exitCode,
    iterations,
  }));
  return { record, journal };
}

describe.skipIf(missing.redis !== null)('an agent that always fails', { timeout: 180_000 }, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store.stop());

  it('comes to the same end under ralph run, in a fleet and in a cluster: that of its settings', async () => {
    const [run, swarm, cluster] = await Promise.all([underRun(), underSwarm(), underCluster(store)]);
    expect(run).toMatchObject({ outcome: 'AGENT_FAILED', exitCode: 3, iterations: 6 });
    expect(run.because).toMatch(/^6 failed turns in a row/);
    expect(swarm).toEqual({ record: run, journal: run });
    expect(cluster).toEqual({ record: run, journal: [run] });
  });
});
