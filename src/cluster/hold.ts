import { isRalphError, messageOf } from '../core/error.ts';
import type { FleetEvent } from '../fleet/files/events.ts';
import type { SealedEnd } from '../fleet/iteration-end.ts';
import type { Claim, Cluster, LoopJob, Next } from './cluster.ts';
import { type Answer, type DriverProcess, type DriverSpec, startDriver } from './driver-process.ts';
import { keepLease } from './lease.ts';
import { collectNews } from './news.ts';
import { runIdOf } from './places.ts';

export type HoldSpec = DriverSpec & {
  readonly cluster: Cluster;
  /** No further iteration after the one that runs. */
  readonly leaving: AbortSignal;
  /** End the agent now. */
  readonly stop: AbortSignal;
};

const retryMs = 500;

/** A loop that this machine holds. */
type Held = {
  readonly spec: HoldSpec;
  readonly driver: DriverProcess;
  readonly news: ReturnType<typeof collectNews>;
  claim: Claim;
  isBooking: boolean;
  isOver: boolean;
};

/**
 * Holds a loop from its claim to its end here. This process only talks, to the store and to the process that drives the
 * loop, so that the lease is renewed whatever that one does. Returns true if this machine should rest: another try here
 * would not do better just now.
 */
export async function holdLoop(spec: HoldSpec, first: Claim): Promise<boolean> {
  const { cluster } = spec;
  const job = await jobOf(cluster, first);
  if (job === null) return true;
  const held = hold(spec, first);
  const { driver, news } = held;
  const stop = () => driver.send({ type: 'stop', why: 'the machine was told to end' });
  spec.stop.addEventListener('abort', stop);
  const lease = keepLease({
    cluster,
    clock: spec.clock,
    leaseMs: spec.rules.leaseMs,
    driver,
    current: () => held.claim,
    isBooking: () => held.isBooking,
    cancelled() {
      held.isOver = true;
    },
  });
  try {
    driver.send({ type: 'begin', job, rules: spec.rules });
    if (spec.stop.aborted) stop();
    for (;;) {
      const answer = await runOne(held);
      if (answer.type === 'gave-up') return await giveUp(held, answer);
      if (!(await goesOn(held, answer))) return false;
      // No renewal could succeed between the store's step to this claim and its answer.
      lease.renewNow();
    }
  } finally {
    lease.end();
    spec.stop.removeEventListener('abort', stop);
    await news.flush();
    // Somebody else may have ended it.
    const view = held.isOver ? await cluster.status(first.name).catch(() => null) : null;
    await driver.close(view?.end ?? null);
  }
}

function hold(spec: HoldSpec, claim: Claim): Held {
  const news = collectNews(spec.cluster, spec.clock, () => held.claim);
  const driver = startDriver(spec, runIdOf(spec.rules.folder, claim.name), (message) => {
    if (message.type === 'shows') news.add({ tail: message.tail });
    if (message.type === 'tells') tell(held, message.event);
  });
  const held: Held = { spec, driver, news, claim, isBooking: false, isOver: false };
  return held;
}

async function runOne({ spec, driver, news, claim }: Held): Promise<Answer> {
  const { name, iteration, maxIterations } = claim;
  spec.say(`${name}: iteration ${iteration}/${maxIterations}`);
  news.add({ why: { state: 'working', since: spec.clock.now() } });
  driver.send({ type: 'run', iteration });
  return driver.answer();
}

/** Books an iteration; true if its successor runs here, too. */
async function goesOn(held: Held, answer: Extract<Answer, { type: 'ended' }>): Promise<boolean> {
  const { spec, news, claim } = held;
  if (answer.found) note(held, `iteration ${claim.iteration} was on the branch already`);
  const { head, carried } = answer;
  news.add(carried === undefined ? { head } : { head, carried });
  await news.flush();
  held.isBooking = true;
  const next = await book(held, answer.end);
  if (next === null) return false;
  if (next.kind !== 'continue') {
    held.isOver = next.kind === 'ended';
    spec.say(`${claim.name}: ${next.kind === 'ended' ? endText(next.exitCode) : next.kind}`);
    return false;
  }
  if (next.claim === null) return false;
  held.claim = next.claim;
  held.isBooking = false;
  if (spec.leaving.aborted) await giveBack(held);
  return !spec.leaving.aborted;
}

/** Tries again while the store is away, so that nothing that was done is lost. */
async function book(held: Held, end: SealedEnd): Promise<Next | null> {
  const { spec, claim } = held;
  const { cluster, clock, stop } = spec;
  const whole = { ...end, at: clock.now() };
  for (;;) {
    try {
      return await cluster.finishIteration(claim, whole);
    } catch (error) {
      if (isRalphError(error) && error.code === 'claim-lost') {
        note(held, `another machine has the loop: it books iteration ${claim.iteration}`);
        return null;
      }
      if (stop.aborted) return null;
      await clock.sleep(retryMs, stop);
    }
  }
}

async function giveUp(held: Held, answer: Extract<Answer, { type: 'gave-up' }>): Promise<boolean> {
  const { because, why, kept } = answer;
  const { spec, news, claim } = held;
  note(held, `iteration ${claim.iteration} did not come to its end here: ${why}`);
  if (kept !== null) tell(held, { at: spec.clock.now(), type: 'kept', text: `its work is kept in ${kept}` });
  await news.flush();
  // A person has to put it right: nobody runs it in the meantime.
  if (because === 'impossible') await spec.cluster.pause(claim.name).catch(() => {});
  await giveBack(held);
  return because === 'unreachable';
}

/** If the store cannot be reached, the lease runs out by itself. */
async function giveBack({ spec, claim }: Held): Promise<void> {
  await spec.cluster
    .giveBack(claim)
    .catch((error) => spec.say(`${claim.name}: could not be given back: ${messageOf(error)}`));
}

function endText(exitCode: number): string {
  return exitCode === 0 ? 'done' : `ended, not done (exit code ${exitCode})`;
}

async function jobOf(cluster: Cluster, { name }: Claim): Promise<LoopJob | null> {
  const [order, view, carried] = await Promise.all([
    cluster.order(name),
    cluster.status(name),
    cluster.carried(name),
  ]);
  if (order?.source === undefined || view === null) return null;
  const { source, ...rest } = order;
  return { ...rest, ...source, id: String(view.startedAt), ...(carried === null ? {} : { carried }) };
}

function tell({ spec, news, claim }: Held, event: FleetEvent): void {
  spec.say(`${claim.name}: ${event.text}`);
  news.add({ events: [event] });
}

function note(held: Held, text: string): void {
  tell(held, { at: held.spec.clock.now(), type: 'notice', text });
}
