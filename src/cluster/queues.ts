import * as v from 'valibot';
import { agentNameOf } from '../agents/registry.ts';
import { parseAs } from '../core/parse-as.ts';
import type { Claimant } from './hosts.ts';
import { isNewer, type Store } from './store.ts';

/** Loops of one account and agent with the same labels wait in one queue. */
const queueSchema = v.object({
  account: v.fallback(v.nullable(v.string()), null),
  labels: v.pipe(v.array(v.string()), v.readonly()),
  /** Agent that a machine needs to have; null for any other command. */
  agent: v.fallback(v.nullable(v.string()), null),
});
export type QueueInfo = Readonly<v.InferOutput<typeof queueSchema>> & { readonly name: string };

/** Returns the agent that a machine needs for a command; null for a program of the user, or one that a path names. */
export function agentOf([program = '']: readonly string[]): string | null {
  const agent = agentNameOf(program);
  return agent === 'custom' || program.includes('/') ? null : agent;
}

/** Returns the queue of a loop. BullMQ allows no colon in its name. */
export function queueFor(
  account: string | null,
  labels: readonly string[],
  agent: string | null = null,
): QueueInfo {
  const sorted = [...new Set(labels)].sort();
  // The account of an agent is usually called like it.
  const usual = account?.split('#')[0] ?? null;
  const needed = agent === usual ? [] : [`agent=${agent ?? ''}`];
  const words = [account ?? '-', ...needed, ...sorted].map(encodeURIComponent);
  return { name: words.join('+'), account, labels: sorted, agent };
}

export async function ensureQueue(store: Store, queue: QueueInfo): Promise<void> {
  const { account, labels, agent } = queue;
  await store.swap('queues', queue.name, null, JSON.stringify({ v: 1, account, labels, agent }));
}

export async function readQueues(store: Store): Promise<readonly QueueInfo[]> {
  return [...(await store.all('queues'))].flatMap(([name, text]) => {
    const queue = isNewer(text) ? null : parseAs(queueSchema, text);
    return queue === null ? [] : [{ name, ...queue }];
  });
}

/** Fault of a machine that keeps it from running anything. */
export const wholeMachine = '*';

/** True if a machine may run the loops of a queue: it has the labels and the agent, and both work. */
export function fits(queue: Pick<QueueInfo, 'labels' | 'agent'>, by: Omit<Claimant, 'host'>): boolean {
  const { labels, agents, faults = {} } = by;
  if (wholeMachine in faults || !queue.labels.every((label) => labels.includes(label))) return false;
  if (queue.agent === null) return true;
  return !(queue.agent in faults) && (agents === undefined || agents.includes(queue.agent));
}
