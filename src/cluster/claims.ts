import { randomUUID } from 'node:crypto';
import { bookEnd } from '../fleet/book-end.ts';
import { decisionOn } from '../fleet/decide-turn.ts';
import { endAtMax, endStep } from '../fleet/end-loop.ts';
import type { IterationEnd } from '../fleet/iteration-end.ts';
import { claim as claimStep } from '../fleet/start-iteration.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import type { Beat, Claim, Claimant, ClusterLimits, Next } from './cluster.ts';
import {
  claimLost,
  claimOf,
  type Entry,
  type EntryStep,
  isCurrent,
  isOver,
  readEntry,
  updateEntry,
} from './entries.ts';
import { isDraining } from './hosts.ts';
import { fits, readLanes } from './lane-names.ts';
import { heldUntil, holdAccount, isBudgetSpent, readLimits, updateLimits } from './limits.ts';
import type { Engine, Seated, Store } from './store.ts';

/** A lane may have an entry before the loop is written: it gets this long to appear. */
const patienceMs = 30_000;
const retryMs = 1000;

/** The next iteration for a machine: of the lanes that fit it, within the limits. */
export async function takeNext(engine: Engine, by: Claimant): Promise<Claim | null> {
  const { store, now } = engine;
  const [limits, lanes] = await Promise.all([readLimits(store), readLanes(store)]);
  if (isBudgetSpent(limits)) return null;
  const open = lanes.filter(
    (lane) => fits(lane, by.labels) && heldUntil(limits, lane.account, now()) === null,
  );
  // No lane may always be the first.
  const from = Math.floor(Math.random() * open.length);
  for (const { name } of [...open.slice(from), ...open.slice(0, from)]) {
    for (;;) {
      const lock = randomUUID();
      if (!(await sit(engine, limits, lock, lock)).ok) return null;
      const found = await store.lane(name).take(lock, by.host);
      if (found === null) {
        await store.stand(lock, lock);
        break;
      }
      const claim = await begin(engine, { lane: name, lock, host: by.host, ...found });
      if (claim !== null) return claim;
    }
  }
  return null;
}

type Found = {
  readonly id: string;
  readonly addedAt: number;
  readonly lane: string;
  readonly lock: string;
  readonly host: string;
};

/** Begins the next iteration of what came out of a lane, or runs the one again that a crash interrupted. */
async function begin(engine: Engine, found: Found): Promise<Claim | null> {
  const { store, now } = engine;
  const { id, lock, host } = found;
  const lane = store.lane(found.lane);
  const step = await updateEntry(store, id, (entry) => {
    const { loop } = entry;
    if (entry.lane !== found.lane) return null;
    if (loop.status !== 'running' || (loop.waitUntil ?? 0) > now()) return null;
    if (loop.iteration === loop.ended && loop.iteration >= loop.settings.max_iterations)
      return { ...endStep(loop, endAtMax(loop), now()), entry: { holder: null } };
    const started = startStep(loop, host, now());
    const events = [...takeover(entry, host, now()), ...(started.events ?? [])];
    return { ...started, events, entry: { holder: { host, lock }, answered: null } };
  });
  if (step?.changed && step.after.loop.status === 'running') return claimOf(step.after);
  // What was submitted anew may wait elsewhere now; its old place is of no use.
  const isStale = step !== null && (step.after.lane !== found.lane || isOver(step.after));
  const until = step?.after.loop.status === 'running' ? step.after.loop.waitUntil : null;
  const isYoung = now() - found.addedAt < patienceMs;
  if (isStale || (until === null && !isYoung)) await lane.drop(id, lock);
  else await lane.putBack(id, lock, until ?? now() + retryMs);
  await store.stand(lock, lock);
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

/** Whoever had it has neither finished it nor given it back. */
function takeover({ holder, loop }: Entry, host: string, at: number): FleetEvent[] {
  if (holder === null || loop.iteration <= loop.ended) return [];
  const text = `${holder.host} was silent, ${host} runs iteration ${loop.iteration} again`;
  return [{ at, type: 'notice', text, iteration: loop.iteration }];
}

export async function renew({ store, leaseMs }: Engine, claim: Claim): Promise<Beat> {
  const entry = await readEntry(store, claim.name);
  if (entry === null || entry.holder === null || !isCurrent(entry, claim)) return { kind: 'lost' };
  const { host, lock } = entry.holder;
  const [renewed, draining] = await Promise.all([
    store.lane(entry.lane).renew(claim.name, lock),
    isDraining(store, host),
    store.keepSeat(lock, leaseMs),
  ]);
  if (!renewed) return { kind: 'lost' };
  if (isOver(entry)) return { kind: 'cancelled' };
  return { kind: 'go-on', pausing: draining || entry.loop.status === 'paused' };
}

/** Books the end of an iteration, and begins the next one for the same holder where nothing is against it. */
export async function finish(engine: Engine, claim: Claim, given: IterationEnd): Promise<Next> {
  const { store, now } = engine;
  const before = await readEntry(store, claim.name);
  if (before?.answered?.token === claim.token) return before.answered.next;
  if (before === null || before.holder === null || !isCurrent(before, claim)) throw claimLost(claim.name);
  const { host, lock } = before.holder;
  const decision = decisionOn(before.loop, given);
  if (decision.kind === 'wait' && decision.because.code === 'usage-limit' && before.account !== null) {
    await holdAccount(store, before.account, given.at + decision.ms, now());
  }
  const start = randomUUID();
  const seated = await mayGoOn(engine, before, start, given.spent?.costUsd ?? 0);
  const step = await updateEntry(store, claim.name, (entry) => {
    if (!isCurrent(entry, claim) || entry.loop.ended >= entry.loop.iteration) return null;
    const spent = added(entry.spent, given.spent);
    const booked = bookEnd(entry.loop, { ...given, decision });
    const ended = { ...entry.loop, ...booked.change };
    const after = nextAfter(ended);
    const isDue = after.kind === 'continue';
    const goesOn = isDue && seated.ok;
    const started = goesOn ? startStep(ended, host, now()) : null;
    const delayed = isDue && !seated.ok ? { waitUntil: seated.until } : {};
    const change = { ...booked.change, ...delayed, ...started?.change };
    const claimed = { ...entry, loop: { ...ended, ...change } };
    const next: Next = goesOn ? { kind: 'continue', claim: claimOf(claimed) } : after;
    return {
      change,
      lines: [...(booked.lines ?? []), ...(started?.lines ?? [])],
      events: [...(booked.events ?? []), ...(started?.events ?? [])],
      entry: { spent, answered: { token: claim.token, next }, ...(goesOn ? {} : { holder: null }) },
    };
  });
  if (step === null || step.after.answered?.token !== claim.token) throw claimLost(claim.name);
  const { next } = step.after.answered;
  if (given.spent !== undefined && step.changed) await countCost(store, given.spent.costUsd);
  if (step.after.holder === null) await letGo(engine, step.after, lock, start);
  return next;
}

/** What comes after an iteration whose end was booked, before anybody has claimed another. */
function nextAfter({ status, waitUntil, end }: LoopRecord): Next {
  if (status === 'paused') return { kind: 'paused' };
  if (status !== 'running') return { kind: 'ended', status, exitCode: end?.exitCode ?? 1 };
  return waitUntil === null ? { kind: 'continue', claim: null } : { kind: 'wait', until: waitUntil };
}

/** The loop is nobody's now: its entry waits again, or is taken out. What fails here is found by the next rescue. */
export async function letGo({ store }: Engine, entry: Entry, lock: string, start?: string): Promise<void> {
  const { loop } = entry;
  const lane = store.lane(entry.lane);
  await quietly(async () => {
    if (loop.status === 'running') await lane.putBack(loop.name, lock, loop.waitUntil);
    else await lane.drop(loop.name, lock);
  });
  await store.stand(lock, start);
  if (loop.status === 'running') return;
  // It may have been resumed while its old entry was still there.
  if ((await readEntry(store, loop.name))?.loop.status === 'running') await lane.add(loop.name);
}

/** What a lane refuses has been done by another, or is nobody's any more. A broken connection is not hidden. */
export async function quietly(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const isRefusal = error instanceof Error && /\bjob\b/i.test(error.message);
    if (!isRefusal) throw error;
  }
}

async function mayGoOn(
  engine: Engine,
  { holder, account, loop }: Entry,
  start: string,
  costUsd: number,
): Promise<Seated> {
  const refused = { ok: false, taken: 0, until: null } as const;
  if (holder === null || loop.status !== 'running') return refused;
  const { store, now } = engine;
  const limits = await readLimits(store);
  if (isBudgetSpent({ ...limits, spentUsd: limits.spentUsd + costUsd })) return refused;
  if (await isDraining(store, holder.host)) return refused;
  const until = heldUntil(limits, account, now());
  return until === null ? sit(engine, limits, holder.lock, start) : { ...refused, until };
}

function sit(
  { store, leaseMs }: Engine,
  { maxParallel, startsPerMinute }: ClusterLimits,
  lock: string,
  start: string,
): Promise<Seated> {
  return store.sit(lock, start, { max: maxParallel, perMinute: startsPerMinute, leaseMs });
}

function added(spent: Entry['spent'], more: Entry['spent'] | undefined): Entry['spent'] {
  if (more === undefined) return spent;
  return { costUsd: spent.costUsd + more.costUsd, tokens: spent.tokens + more.tokens };
}

async function countCost(store: Store, costUsd: number): Promise<void> {
  if (costUsd > 0) await updateLimits(store, ({ spentUsd }) => ({ spentUsd: spentUsd + costUsd }));
}
