import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loopPaths } from '../store/fleet-paths.ts';
import { systemClock } from '../system/clock.ts';
import { claimed, describeFleet, order } from './contract.ts';
import { localFleet } from './local.ts';

let env: Record<string, string>;

beforeEach(() => {
  env = { HOME: mkdtempSync(join(tmpdir(), 'fleet-')) };
});

afterEach(() => rmSync(env.HOME ?? '', { recursive: true, force: true }));

describeFleet('the fleet of a machine', async () => localFleet(env, systemClock));

describe('the files of a fleet', () => {
  it('reads settings that somebody edits, and takes no nonsense', async () => {
    const fleet = localFleet(env, systemClock);
    await fleet.submit(order('a'));
    const { state } = loopPaths(env, 'a');
    const edit = (change: object) =>
      writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), ...change }));
    edit({ max_iterations: 9, current_iteration: 77 });
    expect(await claimed(() => fleet.claim())).toMatchObject({ iteration: 1, maxIterations: 9 });
    writeFileSync(state, '{"max_iterations": ');
    expect(await fleet.status('a')).toMatchObject({ maxIterations: 9, iteration: 1 });
    const nonsense = { prompt_file: '/p.md', max_iterations: 'many', inactivity_timeout: -1 };
    writeFileSync(state, JSON.stringify(nonsense));
    expect(await fleet.status('a')).toMatchObject({ maxIterations: 9 });
  });
});
