import { isRalphError, messageOf } from '../core/error.ts';
import type { FleetEvent } from '../fleet/files/events.ts';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import type { Clock } from '../os/clock.ts';
import type { Cluster } from './cluster.ts';
import type { Answer, DriverProcess } from './driver-process.ts';
import type { Claim, Next } from './entries.ts';
import { keepLease } from './lease.ts';
import type { FromDriver, MachineRules } from './messages.ts';
import { collectNews } from './news.ts';
import type { LoopJob } from './orders.ts';
import { runIdOf } from './places.ts';
import { agentOf, wholeMachine } from './queues.ts';
import type { Setback } from './setback.ts';

export type HoldSpec = {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly rules: MachineRules;
  say(line: string): void;
  /** Starts the process that drives a loop. */
  start(runId: string, hear: (message: FromDriver) => void): DriverProcess;
  /** No further iteration after the one that runs. */
  readonly leaving: AbortSignal;
  /** End the agent now. */
  readonly stop: AbortSignal;
};

/** Agent that does not work on this machine, or all of it (`*`). */
export type Fault = { readonly kind: string; readonly why: string };

const retryMs = 500;

/** A loop that this machine holds. */
type HeldLoop = {
  readonly spec: HoldSpec;
  readonly driver: DriverProcess;
  readonly news: ReturnType<typeof collectNews>;
  claim: Claim;
  isOver: boolean;
};

/**
 * Holds a loop from its claim to its end on this machine. A process of its own drives the loop, so that the lease is
 * renewed whatever that one does. Returns what is wrong with this machine; null if nothing is.
 */
export async function holdLoop(spec: HoldSpec, first: Claim): Promise<Fault | null> {
  const { cluster } = spec;
  const job = await jobOf(cluster, first);
  if (job === null) {
    await cluster.giveBack(first, { kind: 'missing', why: 'its order in the store cannot be read' });
    return null;
  }
  const loop = hold(spec, first);
  const { driver, news } = loop;
  const stop = () => driver.send({ type: 'stop', why: 'the machine was told to end' });
  spec.stop.addEventListener('abort', stop);
  const endLease = keepLease({
    cluster,
    clock: spec.clock,
    leaseMs: spec.rules.leaseMs,
    driver,
    claim: first,
    cancelled() {
      loop.isOver = true;
    },
  });
  try {
    driver.send({ type: 'begin', job, rules: spec.rules });
    if (spec.stop.aborted) stop();
    for (;;) {
      const answer = await runOne(loop);
      if (answer.type === 'gave-up') return await giveUp(loop, answer, agentOf(job.command));
      if (!(await goesOn(loop, answer))) return null;
    }
  } finally {
    endLease();
    spec.stop.removeEventListener('abort', stop);
    await news.flush();
    // Somebody else may have ended it.
    const view = loop.isOver ? await cluster.status(first.name).catch(() => null) : null;
    await driver.close(view?.end ?? null);
  }
}

function hold(spec: HoldSpec, claim: Claim): HeldLoop {
  const news = collectNews(spec.cluster.report, spec.clock, () => loop.claim);
  const driver = spec.start(runIdOf(spec.rules.folder, claim.name), (message) => {
    if (message.type === 'shows') news.add({ tail: message.tail });
    if (message.type === 'tells') tell(loop, message.event);
  });
  const loop: HeldLoop = { spec, driver, news, claim, isOver: false };
  return loop;
}

async function runOne({ spec, driver, news, claim }: HeldLoop): Promise<Answer> {
  const { name, iteration, maxIterations } = claim;
  spec.say(`${name}: iteration ${iteration}/${maxIterations}`);
  news.add({ why: { state: 'working', since: spec.clock.now() } });
  driver.send({ type: 'run', iteration });
  return driver.answer();
}

/** Books an iteration; true if the next one runs here, too. */
async function goesOn(loop: HeldLoop, answer: Extract<Answer, { type: 'ended' }>): Promise<boolean> {
  const { spec, news, claim } = loop;
  if (answer.wasOnBranch) note(loop, `iteration ${claim.iteration} was on the branch already`);
  const { head, runState } = answer;
  news.add(runState === undefined ? { head } : { head, runState });
  await news.flush();
  const next = await book(loop, answer.end);
  if (next === null) return false;
  if (next.kind !== 'continue') {
    loop.isOver = next.kind === 'ended';
    spec.say(`${claim.name}: ${next.kind === 'ended' ? endText(next.exitCode) : next.kind}`);
    return false;
  }
  if (next.claim === null) return false;
  loop.claim = next.claim;
  if (spec.leaving.aborted) await giveBack(loop);
  return !spec.leaving.aborted;
}

/** Books an iteration in the store; retries while that is away, so that no work is lost. */
async function book(loop: HeldLoop, end: TurnEnd): Promise<Next | null> {
  const { spec, claim } = loop;
  const { cluster, clock, stop } = spec;
  const whole = { ...end, at: clock.now() };
  for (;;) {
    try {
      return await cluster.finishIteration(claim, whole);
    } catch (error) {
      if (isRalphError(error) && error.code === 'claim-lost') {
        note(loop, `another machine has the loop: it books iteration ${claim.iteration}`);
        return null;
      }
      if (stop.aborted) return null;
      await clock.sleep(retryMs, stop);
    }
  }
}

async function giveUp(
  loop: HeldLoop,
  answer: Extract<Answer, { type: 'gave-up' }>,
  agent: string | null,
): Promise<Fault | null> {
  const { kind, why, keptRef } = answer;
  const { spec, news, claim } = loop;
  note(loop, `iteration ${claim.iteration} did not come to its end here: ${why}`);
  if (keptRef !== null)
    tell(loop, { at: spec.clock.now(), type: 'kept', text: `its work is kept in ${keptRef}` });
  await news.flush();
  await giveBack(loop, { kind, why });
  if (kind === 'machine') return { kind: wholeMachine, why };
  return kind === 'agent' && agent !== null ? { kind: agent, why } : null;
}

/** Gives a loop back. If the store cannot be reached, the lease runs out. */
async function giveBack({ spec, claim }: HeldLoop, setback?: Setback): Promise<void> {
  await spec.cluster
    .giveBack(claim, setback)
    .catch((error) => spec.say(`${claim.name}: could not be given back: ${messageOf(error)}`));
}

function endText(exitCode: number): string {
  return exitCode === 0 ? 'done' : `ended, not done (exit code ${exitCode})`;
}

async function jobOf(cluster: Cluster, { name }: Claim): Promise<LoopJob | null> {
  const [order, view, runState] = await Promise.all([
    cluster.order(name),
    cluster.status(name),
    cluster.runState(name),
  ]);
  // The worktree is named by the order, the lease by the entry.
  if (order?.source === undefined || view === null || order.name !== name) return null;
  const { source, ...rest } = order;
  return { ...rest, ...source, id: String(view.startedAt), ...(runState === null ? {} : { runState }) };
}

function tell({ spec, news, claim }: HeldLoop, event: FleetEvent): void {
  spec.say(`${claim.name}: ${event.text}`);
  news.add({ events: [event] });
}

function note(loop: HeldLoop, text: string): void {
  tell(loop, { at: loop.spec.clock.now(), type: 'notice', text });
}
