import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loopPaths } from '../store/fleet-paths.ts';
import { createFakeClock, type FakeClock } from '../system/clock.ts';
import { localFleet } from './local.ts';
import type { Claim, Fleet, IterationEnd, LoopOrder } from './port.ts';

let env: Record<string, string>;
let clock: FakeClock;
let fleet: Fleet;

beforeEach(() => {
  env = { HOME: mkdtempSync(join(tmpdir(), 'fleet-')) };
  clock = createFakeClock();
  fleet = localFleet(env, clock);
});

afterEach(() => rmSync(env.HOME ?? '', { recursive: true, force: true }));

function order(name: string, change: Partial<LoopOrder> = {}): LoopOrder {
  const settings = { prompt_file: '/p.md', max_iterations: 3, done_pattern: null, inactivity_timeout: 60 };
  return { name, command: ['claude'], cwd: '/', env: {}, tags: [], settings, options: {}, ...change };
}

async function claimed(): Promise<Claim> {
  const claim = await fleet.claim();
  if (claim === null) throw new Error('nothing to claim');
  return claim;
}

const ended = (change: Partial<IterationEnd> = {}): IterationEnd => ({
  at: clock.now(),
  how: 'exited',
  exitCode: 0,
  doneMatched: false,
  ...change,
});

describe('the fleet of a machine', () => {
  it('takes a loop of a name once', async () => {
    expect(await fleet.submit(order('a'))).toBe(true);
    expect(await fleet.submit(order('a'))).toBe(false);
    expect(await fleet.list()).toHaveLength(1);
  });

  it('gives an iteration to one only, and the next when that is finished', async () => {
    await fleet.submit(order('a'));
    const claim = await claimed();
    expect(claim).toMatchObject({ name: 'a', iteration: 1, maxIterations: 3 });
    expect(await fleet.claim()).toBeNull();
    expect(await fleet.finishIteration(claim, ended())).toEqual({ kind: 'continue' });
    expect(await claimed()).toMatchObject({ iteration: 2 });
  });

  it('books an end once, and refuses whoever lost the claim', async () => {
    await fleet.submit(order('a'));
    const first = await claimed();
    await fleet.finishIteration(first, ended({ exitCode: 1 }));
    await fleet.finishIteration(first, ended({ exitCode: 1 }));
    expect(await fleet.status('a')).toMatchObject({ failures: 1, totalFailures: 1 });
    await clock.advance(1000);
    const second = await claimed();
    await expect(fleet.finishIteration(first, ended())).rejects.toThrow(/not valid any more/);
    expect(await fleet.heartbeat(first)).toEqual({ kind: 'lost' });
    expect(await fleet.heartbeat(second)).toEqual({ kind: 'go-on', pausing: false });
  });

  it('waits after a failure', async () => {
    await fleet.submit(order('a'));
    const next = await fleet.finishIteration(await claimed(), ended({ exitCode: 1 }));
    expect(next).toEqual({ kind: 'wait', until: clock.now() + 1000 });
    expect(await fleet.claim()).toBeNull();
    await clock.advance(1000);
    expect(await claimed()).toMatchObject({ iteration: 2 });
  });

  it('pauses after the iteration that runs, and goes on', async () => {
    await fleet.submit(order('a'));
    const claim = await claimed();
    expect(await fleet.pause('a')).toMatchObject({ changed: true, view: { status: 'paused' } });
    expect(await fleet.pause('a')).toMatchObject({ changed: false });
    expect(await fleet.heartbeat(claim)).toEqual({ kind: 'go-on', pausing: true });
    expect(await fleet.finishIteration(claim, ended())).toEqual({ kind: 'paused' });
    expect(await fleet.claim()).toBeNull();
    expect(await fleet.resume('a')).toMatchObject({ changed: true });
    expect(await claimed()).toMatchObject({ iteration: 2 });
  });

  it('tells whoever runs a cancelled loop', async () => {
    await fleet.submit(order('a'));
    const claim = await claimed();
    expect(await fleet.cancel('a')).toMatchObject({ changed: true, view: { status: 'stopped' } });
    expect(await fleet.heartbeat(claim)).toEqual({ kind: 'cancelled' });
    expect(await fleet.claim()).toBeNull();
    expect(await fleet.cancel('nobody')).toEqual({ changed: false, view: null });
  });

  it('runs no more at once than allowed, and one account waits together', async () => {
    for (const name of ['a', 'b', 'c']) await fleet.submit(order(name));
    await fleet.submit(order('d', { command: ['codex'] }));
    await fleet.setMaxParallel(2);
    const first = await claimed();
    await claimed();
    expect(await fleet.claim()).toBeNull();
    const until = clock.now() + 60_000;
    await fleet.finishIteration(first, ended({ how: 'limited', exitCode: null, limitUntil: until }));
    expect((await fleet.limits()).holds).toEqual({ claude: until });
    expect(await claimed()).toMatchObject({ name: 'd' });
    await fleet.setMaxParallel(null);
    expect(await fleet.claim()).toBeNull();
    await clock.advance(60_000);
    expect(await claimed()).toMatchObject({ name: 'a', iteration: 1 });
  });

  it('reads settings that somebody edits, and takes no nonsense', async () => {
    await fleet.submit(order('a'));
    const { state } = loopPaths(env, 'a');
    const edit = (change: object) =>
      writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), ...change }));
    edit({ max_iterations: 9, current_iteration: 77 });
    expect(await claimed()).toMatchObject({ iteration: 1, maxIterations: 9 });
    writeFileSync(state, '{"max_iterations": ');
    expect(await fleet.status('a')).toMatchObject({ maxIterations: 9, iteration: 1 });
    const nonsense = { prompt_file: '/p.md', max_iterations: 'many', inactivity_timeout: -1 };
    writeFileSync(state, JSON.stringify(nonsense));
    expect(await fleet.status('a')).toMatchObject({ maxIterations: 9 });
  });
});
