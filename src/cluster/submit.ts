import { randomUUID } from 'node:crypto';
import { runsByItself } from '../fleet/delivery.ts';
import { newRecord } from '../fleet/files/loop-record.ts';
import { accountOf } from '../fleet/limits.ts';
import { quietly } from './claims.ts';
import {
  addLines,
  type Entry,
  isOver,
  noSetbacks,
  parseEntry,
  readEntry,
  setAsideRecord,
} from './entries.ts';
import type { LoopOrder } from './orders.ts';
import { agentOf, ensureQueue, queueFor } from './queues.ts';
import { isNewer, newerRecord, type Store, type TimedStore } from './store.ts';

/** Lets a known agent run by `ralph run`, with all its checks. */
function asRun(order: LoopOrder): LoopOrder {
  const { command, options, settings } = order;
  if (options.run !== undefined || runsByItself(command)) return order;
  const pattern = settings.done_pattern;
  const run = pattern === null ? [] : [`--done-pattern=${pattern}`];
  return { ...order, options: { ...options, run } };
}

/** Writes a loop into the store. False if one of that name has not ended. */
export async function submitLoop(
  { store, now }: Pick<TimedStore, 'store' | 'now'>,
  submission: LoopOrder,
): Promise<boolean> {
  const order = asRun(submission);
  const { name } = order;
  const text = await store.get('loops', name);
  if (isNewer(text)) throw newerRecord(`'${name}'`);
  const before = parseEntry(text, name);
  if (before !== null && !isOver(before)) return false;
  if (text !== null && before === null) {
    await setAsideRecord(store, name);
    return submitLoop({ store, now }, submission);
  }
  const account = accountOf(order.command, order.env, order.options.account);
  const queue = queueFor(account, order.labels ?? [], agentOf(order.command));
  const key = `${name}:${randomUUID()}`;
  const { settings, options } = order;
  const launch = before?.loop.launch ?? 0;
  const loop = { ...newRecord(name, { settings, options, held: false }, now()), launch };
  const entry = entryFor(order, { key, account, queue: queue.name, loop });
  await ensureQueue(store, queue);
  // The queue first: a machine waits for the entry of a loop that it takes, but never looks for one outside the queues.
  await store.queue(queue.name).add(name);
  const change = { add: key, order: JSON.stringify(order), ...(before === null ? {} : { drop: before.key }) };
  if (!(await store.swapLoop(name, text, JSON.stringify(entry), change))) {
    await leaveQueue(store, name, queue.name);
    return false;
  }
  await addLines(store, key, { events: [{ at: now(), type: 'spawned', text: 'submitted' }] });
  return true;
}

/** Removes a loop that is over. */
export async function forgetLoop(store: Store, name: string): Promise<boolean> {
  const text = await store.get('loops', name);
  const entry = parseEntry(text, name);
  if (entry === null || !isOver(entry)) return false;
  return store.swapLoop(name, text, null, { drop: entry.key });
}

/** Leaves the queue after another submission won, unless that one waits in the same queue. */
async function leaveQueue(store: Store, name: string, queue: string): Promise<void> {
  const winner = await readEntry(store, name);
  if (winner !== null && (winner.queue !== queue || isOver(winner))) {
    await quietly(() => store.queue(queue).remove(name));
  }
}

function entryFor(order: LoopOrder, place: Pick<Entry, 'key' | 'account' | 'queue' | 'loop'>): Entry {
  const { source, labels = [], tags, command } = order;
  return {
    v: 1,
    ...place,
    holder: null,
    answered: null,
    spent: { costUsd: 0, tokens: 0 },
    setbacks: noSetbacks,
    head: null,
    repo: source?.repo ?? '',
    branch: source?.branch ?? '',
    labels,
    tags,
    command,
  };
}
