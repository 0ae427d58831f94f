import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** How often the supervisor is killed. */
const kills = 50;
const workers = 8;

describe('a supervisor that is killed', { timeout: 300_000 }, () => {
  it(`loses nothing and does nothing twice, at ${kills} random points`, async () => {
    const fleet = makeFleet();
    const names = Array.from({ length: workers }, (_, index) => `w${index}`);
    const script = 'echo "$SWARM_WORKER $RALPH_ITERATION" >>ran.txt; sleep "$PAUSE"';
    const pause = (index: number) => `PAUSE=0.${index + 1}`;
    await Promise.all(
      names.map((name, index) => fleet.loop(name, script, '--max-iterations', '1000', '--env', pause(index))),
    );
    for (let killed = 0; killed < kills; killed++) {
      const pid = await waitUntil(async () => fleet.supervisor() ?? (await revive(fleet)), patience);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      process.kill(pid ?? 0, 'SIGKILL');
    }
    for (const name of names) await letEnd(fleet, name);

    const ran = fleet.read('ran.txt').trimEnd().split('\n');
    for (const name of names) {
      const { current_iteration: last, total_failures } = fleet.state(name);
      const wanted = Array.from({ length: last }, (_, index) => String(index + 1));
      const mine = ran.filter((line) => line.startsWith(`${name} `));
      expect(mine.map((line) => line.split(' ')[1])).toEqual(wanted);
      const numbers = (kind: string) =>
        fleet
          .log(name)
          .filter((line) => line.startsWith(kind))
          .map((line) => line.split(' ')[2]?.split('/')[0]);
      expect(numbers('[START]')).toEqual(wanted);
      expect(numbers('[END]')).toEqual(wanted);
      expect(total_failures).toBe(0);
    }
    await waitUntil(() => names.every((name) => fleet.worker(name).status === 'stopped'), patience);
  });
});

async function revive(fleet: TestFleet): Promise<number | null> {
  await fleet.swarm('ls');
  return null;
}

/** Lowers the maximum in the state file, as people do. An edit may meet a write of the supervisor's, so look again. */
async function letEnd(fleet: TestFleet, name: string): Promise<void> {
  const path = join(fleet.home, '.swarm/ralph', name, 'state.json');
  await waitUntil(
    async () => {
      const state = fleet.state(name);
      if (state.status === 'stopped') return true;
      if (state.max_iterations === 1000) writeFileSync(path, JSON.stringify({ ...state, max_iterations: 1 }));
      await fleet.swarm('ls');
      return false;
    },
    { ...patience, what: `the end of ${name}` },
  );
}
