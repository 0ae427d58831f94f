import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import type { Store } from './store.ts';

/** Loops of one account with the same labels wait in one queue. */
const queueSchema = v.object({
  account: v.fallback(v.nullable(v.string()), null),
  labels: v.pipe(v.array(v.string()), v.readonly()),
});
export type QueueInfo = Readonly<v.InferOutput<typeof queueSchema>> & { readonly name: string };

/** Returns the queue of a loop. BullMQ allows no colon in its name. */
export function queueFor(account: string | null, labels: readonly string[]): QueueInfo {
  const words = [account ?? '-', ...[...new Set(labels)].sort()].map(encodeURIComponent);
  return { name: words.join('+'), account, labels: [...new Set(labels)].sort() };
}

export async function ensureQueue(store: Store, queue: QueueInfo): Promise<void> {
  const { account, labels } = queue;
  await store.swap('queues', queue.name, null, JSON.stringify({ account, labels }));
}

export async function readQueues(store: Store): Promise<readonly QueueInfo[]> {
  return [...(await store.all('queues'))].flatMap(([name, text]) => {
    const queue = parseAs(queueSchema, text);
    return queue === null ? [] : [{ name, ...queue }];
  });
}

/** True if a machine with these labels may run the loops of a queue. */
export function fits(queue: Pick<QueueInfo, 'labels'>, labels: readonly string[]): boolean {
  return queue.labels.every((label) => labels.includes(label));
}
