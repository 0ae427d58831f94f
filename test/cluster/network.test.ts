import { describe, expect, it } from 'vitest';
import { alive, waitUntil } from '../support/processes.ts';
import { missing, startRedis } from '../support/stores.ts';
import { firstTakes, makeWorld, patience, worker } from './machines.ts';
import { makeRoom, whyNoNetwork } from './network.ts';

const reason = missing.redis ?? whyNoNetwork;
const title = `machines on a network${reason === null ? '' : ` (skipped: ${reason})`}`;

describe.skipIf(reason !== null)(title, { timeout: 180_000 }, () => {
  it('moves a loop to another machine when one is cut off, which ends its agent and comes back later', async () => {
    const rooms = [makeRoom(), makeRoom(), makeRoom()] as const;
    const bind = ['--bind', '127.0.0.1', ...rooms.map(({ address }) => address), '--protected-mode', 'no'];
    const store = await startRedis(bind);
    try {
      const world = await makeWorld(store);
      const at = (room: (typeof rooms)[number]) => ({
        through: room.through,
        url: world.url.replace('127.0.0.1', room.address),
      });
      await world.submit('a', world.agent('agent', worker(firstTakes(60))), { max_iterations: 2 });
      const one = world.machine('one', at(rooms[0]));
      await waitUntil(() => world.log('ran.txt').includes('start a 1'), patience);
      const left = one.processes();
      rooms[0].cut();
      // What runs the loop may stay for a while, to tell of it.
      await waitUntil(() => left.filter(alive).length <= 1, { ...patience, what: 'the end of its agent' });
      const others = [world.machine('two', at(rooms[1])), world.machine('three', at(rooms[2]))];
      expect(await world.over('a')).toBe('stopped');
      expect(world.problems('a', 2)).toEqual([]);
      expect(world.log('ran.txt').slice(0, 2)).toEqual(['start a 1', 'start a 1']);

      // The machine is there again as soon as its network is.
      for (const other of others) other.child.kill('SIGTERM');
      await Promise.all(others.map(({ done }) => done));
      rooms[0].mend();
      await world.submit('b', world.agent('agent', worker('0')), { max_iterations: 1 });
      expect(await world.over('b')).toBe('stopped');
      expect(world.problems('b', 1)).toEqual([]);
    } finally {
      await store.stop();
    }
  });
});
