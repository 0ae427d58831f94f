import { randomUUID } from 'node:crypto';
import { bookEnd } from '../fleet/book-end.ts';
import { decisionOn } from '../fleet/decide-turn.ts';
import { endAtMax, endStep } from '../fleet/end-loop.ts';
import type { FleetEvent } from '../fleet/files/events.ts';
import { heldUntil } from '../fleet/files/limits.ts';
import type { LoopRecord } from '../fleet/files/loops.ts';
import type { IterationEnd, LoopDecision, Spent } from '../fleet/iteration-end.ts';
import { claim as claimStep } from '../fleet/start-iteration.ts';
import {
  type Beat,
  type Claim,
  claimLost,
  claimOf,
  type Entry,
  type EntryStep,
  isCurrent,
  isOver,
  type Next,
  nextOf,
  noSetbacks,
  readEntry,
  setAsideRecord,
  updateEntry,
} from './entries.ts';
import { type Claimant, isDraining } from './hosts.ts';
import {
  type ClusterLimits,
  forgetLimit,
  holdAccount,
  isBudgetSpent,
  readLimits,
  updateLimits,
} from './limits.ts';
import { fits, type QueueInfo } from './queues.ts';
import type { SlotAnswer } from './redis.ts';
import { deathStep } from './setback.ts';
import { isNewer, type TimedStore } from './store.ts';

/** Time that a loop gets to appear in the store after its entry in the queue. */
const patienceMs = 30_000;
const retryMs = 1000;

/** Claims the next iteration for a machine, from the queues that fit it and within the limits. */
export async function takeNext(
  timed: TimedStore,
  by: Claimant,
  limits: ClusterLimits,
  queues: readonly QueueInfo[],
): Promise<Claim | null> {
  const { store, now } = timed;
  if (isBudgetSpent(limits)) return null;
  const open = queues.filter(
    (queue) => fits(queue, by) && heldUntil(limits.holds, queue.account, now()) === null,
  );
  // Starts at a random queue, so that none is always first.
  const from = Math.floor(Math.random() * open.length);
  for (const { name } of [...open.slice(from), ...open.slice(0, from)]) {
    for (;;) {
      const lock = randomUUID();
      if (!(await store.takeSlot(lock, lock, limits)).ok) return null;
      const item = await store.queue(name).take(lock, by.host);
      if (item === null) {
        await store.freeSlot(lock, lock);
        break;
      }
      const claim = await begin(timed, { queue: name, lock, host: by.host, ...item });
      if (claim !== null) return claim;
    }
  }
  return null;
}

/** Entry that a machine took out of a queue. */
type QueueItem = {
  readonly id: string;
  readonly addedAt: number;
  readonly queue: string;
  readonly lock: string;
  readonly host: string;
};

/** Begins the next iteration of a loop from a queue, or runs the one again that a crash interrupted. */
async function begin(timed: TimedStore, item: QueueItem): Promise<Claim | null> {
  const { store, now } = timed;
  const { id, lock, host } = item;
  const queue = store.queue(item.queue);
  const step = await updateEntry(store, id, (entry) => {
    const { loop } = entry;
    if (entry.queue !== item.queue) return null;
    if (loop.status !== 'running' || (loop.waitUntil ?? 0) > now()) return null;
    if (loop.iteration === loop.ended && loop.iteration >= loop.settings.max_iterations)
      return { ...endStep(loop, endAtMax(loop), now()), entry: { holder: null } };
    const silent = takeover(entry, host, now());
    const death = silent.length === 0 ? null : deathStep(entry, now());
    if (death?.change.status === 'paused') return { ...death, entry: { ...death.entry, holder: null } };
    const start = startStep(loop, host, now());
    const events = [...silent, ...(start.events ?? [])];
    return { ...start, events, entry: { ...death?.entry, holder: { host, lock }, answered: null } };
  });
  if (step?.changed && step.after.loop.status === 'running') return claimOf(step.after);
  // A loop that was submitted again may wait in another queue now.
  const isStale = step !== null && (step.after.queue !== item.queue || isOver(step.after));
  const until = step?.after.loop.status === 'running' ? step.after.loop.waitUntil : null;
  const isYoung = now() - item.addedAt < patienceMs;
  if (step === null && isNewer(await store.get('loops', id)))
    await queue.putBack(id, lock, now() + patienceMs);
  else if (step === null && (await setAsideRecord(store, id))) await queue.drop(id, lock);
  else if (isStale || (until === null && !isYoung)) await queue.drop(id, lock);
  else await queue.putBack(id, lock, until ?? now() + retryMs);
  await store.freeSlot(lock, lock);
  return null;
}

function startStep(loop: LoopRecord, host: string, at: number): EntryStep {
  const isInterrupted = loop.iteration > loop.ended;
  const step = claimStep(isInterrupted ? { ...loop, iteration: loop.iteration - 1 } : loop, at);
  return {
    ...step,
    events: (step.events ?? []).map((event) => ({ ...event, text: `${event.text} on ${host}` })),
  };
}

/** Returns the notice that a silent machine lost the loop; none if it finished or gave it back. */
function takeover({ holder, loop }: Entry, host: string, at: number): FleetEvent[] {
  if (holder === null || loop.iteration <= loop.ended) return [];
  const text = `${holder.host} was silent, ${host} runs iteration ${loop.iteration} again`;
  return [{ at, type: 'notice', text, iteration: loop.iteration }];
}

/** Renews a lease in one round trip. It outlives the booking of an iteration: the next claim has the same lock. */
export async function renew({ store }: TimedStore, claim: Claim): Promise<Beat> {
  const { name, queue, lock } = claim;
  const [entry, renewed] = await Promise.all([
    readEntry(store, name),
    store.queue(queue).renew(name, lock),
    store.keepSlot(lock),
  ]);
  if (!renewed || entry?.holder?.lock !== lock) return { kind: 'lost' };
  return { kind: isOver(entry) ? 'cancelled' : 'go-on' };
}

/** Books the end of an iteration and, if the limits allow it, begins the next one for the same holder. */
export async function finish(timed: TimedStore, claim: Claim, end: IterationEnd): Promise<Next> {
  const { store, now } = timed;
  const before = await readEntry(store, claim.name);
  if (before?.answered === claim.token) return nextOf(before, claim.lock);
  if (before === null || before.holder === null || !isCurrent(before, claim)) throw claimLost(claim.name);
  const { host, lock } = before.holder;
  const decision = await sharedDecision(timed, before, end);
  const start = randomUUID();
  const { spent = { costUsd: 0, tokens: 0 } } = end;
  const slot = await mayGoOn(timed, before, start, spent.costUsd);
  const step = await updateEntry(store, claim.name, (entry) => {
    if (!isCurrent(entry, claim) || entry.loop.ended >= entry.loop.iteration) return null;
    const booked = bookEnd(entry.loop, { ...end, decision });
    const loop = { ...entry.loop, ...booked.change };
    const isDue = loop.status === 'running' && loop.waitUntil === null;
    const nextStep = isDue && slot.ok ? startStep(loop, host, now()) : null;
    const delayed = isDue && !slot.ok ? { waitUntil: slot.until } : {};
    return {
      change: { ...booked.change, ...delayed, ...nextStep?.change },
      lines: [...(booked.lines ?? []), ...(nextStep?.lines ?? [])],
      events: [...(booked.events ?? []), ...(nextStep?.events ?? [])],
      entry: {
        spent: addSpending(entry.spent, spent),
        setbacks: noSetbacks,
        answered: claim.token,
        ...(nextStep === null ? { holder: null } : {}),
      },
    };
  });
  if (step === null || step.after.answered !== claim.token) throw claimLost(claim.name);
  if (step.changed && spent.costUsd > 0)
    await updateLimits(store, ({ spentUsd }) => ({ spentUsd: spentUsd + spent.costUsd }));
  if (step.after.holder === null) await letGo(timed, step.after, lock, start);
  return nextOf(step.after, lock);
}

/** Returns the decision on an iteration. All loops of an account wait for the end of its usage limit. */
async function sharedDecision(
  timed: TimedStore,
  { account, loop }: Entry,
  end: IterationEnd,
): Promise<LoopDecision> {
  const decision = decisionOn(loop, end);
  const isLimited = decision.kind === 'wait' && decision.because.code === 'usage-limit';
  if (account === null) return decision;
  if (!isLimited) {
    await forgetLimit(timed.store, account);
    return decision;
  }
  return { ...decision, ms: (await holdAccount(timed, account, end, decision.ms)) - end.at };
}

/** Returns a loop that nobody holds to its queue, or removes it if it does not run. A rescue repairs a failure. */
export async function letGo(
  { store }: TimedStore,
  entry: Entry,
  lock: string,
  start?: string,
): Promise<void> {
  const { loop } = entry;
  const queue = store.queue(entry.queue);
  await quietly(async () => {
    if (loop.status === 'running') await queue.putBack(loop.name, lock, loop.waitUntil);
    else await queue.drop(loop.name, lock);
  });
  await store.freeSlot(lock, start);
  if (loop.status === 'running') return;
  // Somebody may have resumed it while its old entry was still in the queue.
  if ((await readEntry(store, loop.name))?.loop.status === 'running') await queue.add(loop.name);
}

/** Ignores that the queue refuses a call, because another machine was faster. Throws other failures. */
export async function quietly(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const isRefusal = error instanceof Error && /\bjob\b/i.test(error.message);
    if (!isRefusal) throw error;
  }
}

async function mayGoOn(
  { store, now }: TimedStore,
  { holder, account, loop }: Entry,
  start: string,
  costUsd: number,
): Promise<SlotAnswer> {
  const refused = { ok: false, until: null } as const;
  if (holder === null || loop.status !== 'running') return refused;
  const limits = await readLimits(store);
  if (isBudgetSpent({ ...limits, spentUsd: limits.spentUsd + costUsd })) return refused;
  if (await isDraining(store, holder.host)) return refused;
  const until = heldUntil(limits.holds, account, now());
  return until === null ? store.takeSlot(holder.lock, start, limits) : { ...refused, until };
}

function addSpending({ costUsd, tokens }: Spent, more: Spent): Spent {
  return { costUsd: costUsd + more.costUsd, tokens: tokens + more.tokens };
}
