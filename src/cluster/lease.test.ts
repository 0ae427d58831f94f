import { expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../os/clock.ts';
import type { Beat, Claim } from './cluster.ts';
import { keepLease } from './lease.ts';
import type { ToDriver } from './messages.ts';

const leaseMs = 4000;
const claimOf = (iteration: number): Claim => ({
  name: 'a',
  token: `token-${iteration}`,
  iteration,
  maxIterations: 9,
});

/** A lease whose store knows of the claim `inStore`, while the machine still holds `claim`. */
function open() {
  const clock = createFakeClock();
  const sent: ToDriver['type'][] = [];
  let answered = Promise.resolve();
  const world = {
    claim: claimOf(1),
    inStore: claimOf(1),
    isBooking: false,
    /** The store answers when the returned function is called. */
    delayAnswer(): () => void {
      let release = () => {};
      answered = new Promise((done) => {
        release = done;
      });
      return release;
    },
  };
  const lease = keepLease({
    clock,
    leaseMs,
    cluster: {
      async heartbeat({ token }): Promise<Beat> {
        const kind = token === world.inStore.token ? 'go-on' : 'lost';
        await answered;
        return { kind };
      },
    },
    driver: { send: ({ type }) => void sent.push(type), endIfSilent() {} },
    current: () => world.claim,
    isBooking: () => world.isBooking,
    cancelled() {},
  });
  onTestFinished(() => lease.end());
  return { clock, sent, world, lease };
}

it('is renewed while an iteration is booked, however long that takes', async () => {
  const { clock, sent, world } = open();
  world.isBooking = true;
  await clock.advance(leaseMs);
  expect(sent).toEqual(['renewed', 'renewed', 'renewed', 'renewed', 'renewed']);
});

it('does not take the next claim, which only the store knows of yet, for a loss, and is renewed at once after it', async () => {
  const { clock, sent, world, lease } = open();
  await clock.advance(0);
  world.isBooking = true;
  world.inStore = claimOf(2);
  await clock.advance(leaseMs / 4);
  expect(sent).toEqual(['renewed']);
  world.claim = world.inStore;
  world.isBooking = false;
  lease.renewNow();
  await clock.advance(0);
  expect(sent).toEqual(['renewed', 'renewed']);
});

it('is renewed once more where that was asked for while a renewal was on its way', async () => {
  const { clock, sent, world, lease } = open();
  await clock.advance(0);
  world.isBooking = true;
  world.inStore = claimOf(2);
  const answer = world.delayAnswer();
  await clock.advance(leaseMs / 4);
  world.claim = world.inStore;
  world.isBooking = false;
  lease.renewNow();
  answer();
  await clock.advance(0);
  expect(sent).toEqual(['renewed', 'renewed']);
});

it('ends the agent when another machine has the loop', async () => {
  const { clock, sent, world } = open();
  await clock.advance(0);
  world.inStore = claimOf(2);
  await clock.advance(leaseMs / 4);
  expect(sent).toEqual(['renewed', 'stop']);
});
