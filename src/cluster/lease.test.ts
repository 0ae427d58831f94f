import { expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../os/clock.ts';
import type { Beat, Claim } from './entries.ts';
import { keepLease } from './lease.ts';
import type { ToDriver } from './messages.ts';

const leaseMs = 4000;
const claim: Claim = { name: 'a', token: '1', iteration: 1, maxIterations: 9, queue: '-', lock: 'x' };

/** A lease on a store that answers with `beat`, or not at all. */
function open() {
  const clock = createFakeClock();
  const sent: ToDriver['type'][] = [];
  const world: { beat: Beat | null; isCancelled: boolean } = { beat: { kind: 'go-on' }, isCancelled: false };
  const end = keepLease({
    clock,
    leaseMs,
    claim,
    cluster: {
      async heartbeat() {
        if (world.beat === null) throw new Error('no answer');
        return world.beat;
      },
    },
    driver: { send: ({ type }) => void sent.push(type), endIfSilent() {} },
    cancelled() {
      world.isCancelled = true;
    },
  });
  onTestFinished(end);
  return { clock, sent, world, end };
}

it('is renewed ten times in its length, until it is ended', async () => {
  const { clock, sent, end } = open();
  await clock.advance(leaseMs - 1);
  expect(sent).toEqual(Array.from({ length: 10 }, () => 'renewed'));
  end();
  await clock.advance(leaseMs);
  expect(sent).toHaveLength(10);
});

it('tells nothing while the store does not answer, and goes on when it does', async () => {
  const { clock, sent, world } = open();
  await clock.advance(0);
  world.beat = null;
  await clock.advance(leaseMs / 2);
  expect(sent).toEqual(['renewed']);
  world.beat = { kind: 'go-on' };
  await clock.advance(leaseMs / 10);
  expect(sent).toEqual(['renewed', 'renewed']);
});

it('ends the agent when another machine has the loop, or somebody cancelled it', async () => {
  const { clock, sent, world } = open();
  await clock.advance(0);
  world.beat = { kind: 'lost' };
  await clock.advance(leaseMs / 10);
  expect([sent, world.isCancelled]).toEqual([['renewed', 'stop'], false]);
  world.beat = { kind: 'cancelled' };
  await clock.advance(leaseMs / 10);
  expect([sent, world.isCancelled]).toEqual([['renewed', 'stop', 'stop'], true]);
});
