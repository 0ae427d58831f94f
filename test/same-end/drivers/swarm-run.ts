import { expect } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeFleet } from '../../fleet/swarm/fleet.ts';
import { type Driver, task } from '../case.ts';
import { endOfRun } from './journal.ts';
import { occupy, settingsFile } from './settings.ts';
import { playWorker } from './worker.ts';

/** `swarm spawn --run` (seed 003 with the checks of seed 001): each iteration is one of `ralph run`. */
export const swarmRun: Driver = {
  differences: [],
  lacks: {
    noGoal: 'seed 001: ralph run always has a completion response',
    interrupt: 'seed 003: a worker is paused or killed, and nobody interrupts its turn',
  },
  async play({ settings, turns }) {
    const fleet = makeFleet({ files: { 'PROMPT.md': task }, settings: settingsFile(settings) });
    await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns } });
    occupy(settings, fleet.path);
    const options = ['--run', '--max-iterations', `${settings.maxIterations}`];
    const end = await playWorker(fleet, ['claude'], options);
    // The journal of a run that began tells the same end as the fleet.
    if (end.iterations !== 0) expect(endOfRun(fleet.path('.ralph/runs'))).toEqual(end);
    return end;
  },
};
