import { isObject } from '../core/shape.ts';
import type { ClusterLimits, HostView } from './cluster.ts';
import type { Store } from './store.ts';

const none: ClusterLimits = {
  maxParallel: null,
  startsPerMinute: null,
  maxCostUsd: null,
  spentUsd: 0,
  holds: {},
};

export async function readLimits(store: Store): Promise<ClusterLimits> {
  return parse(await store.get('fleet', 'limits'));
}

/** Changes the limits as nobody else does at the same time. */
export async function updateLimits(
  store: Store,
  change: (limits: ClusterLimits) => Partial<ClusterLimits> | null,
): Promise<boolean> {
  for (;;) {
    const text = await store.get('fleet', 'limits');
    const before = parse(text);
    const changed = change(before);
    if (changed === null) return false;
    if (await store.swap('fleet', 'limits', text, JSON.stringify({ ...before, ...changed }))) return true;
  }
}

/** All loops of the account wait until then, or longer where they do already. What is over is forgotten. */
export function holdAccount(store: Store, account: string, until: number, now: number): Promise<boolean> {
  return updateLimits(store, ({ holds }) => {
    const next = { ...holds, [account]: Math.max(until, holds[account] ?? 0) };
    return { holds: Object.fromEntries(Object.entries(next).filter(([, end]) => end > now)) };
  });
}

export function heldUntil({ holds }: ClusterLimits, account: string | null, now: number): number | null {
  const until = account === null ? undefined : holds[account];
  return until !== undefined && until > now ? until : null;
}

export function isBudgetSpent({ maxCostUsd, spentUsd }: ClusterLimits): boolean {
  return maxCostUsd !== null && spentUsd >= maxCostUsd;
}

export type HostRecord = Pick<HostView, 'labels' | 'draining' | 'seenAt'> & {
  /** Tells machines of the same name apart. */
  readonly id: string | null;
};

export async function readHosts(store: Store): Promise<ReadonlyMap<string, HostRecord>> {
  const hosts = new Map<string, HostRecord>();
  for (const [host, text] of await store.all('hosts')) {
    const record = parseHost(text);
    if (record !== null) hosts.set(host, record);
  }
  return hosts;
}

export async function isDraining(store: Store, host: string): Promise<boolean> {
  const text = await store.get('hosts', host);
  return text !== null && parseHost(text)?.draining === true;
}

export async function updateHost(
  store: Store,
  host: string,
  change: (record: HostRecord | null) => HostRecord | null,
): Promise<void> {
  for (;;) {
    const text = await store.get('hosts', host);
    const next = change(text === null ? null : parseHost(text));
    if (await store.swap('hosts', host, text, next === null ? null : JSON.stringify(next))) return;
  }
}

function parse(text: string | null): ClusterLimits {
  const value = text === null ? null : json(text);
  return isObject(value) && isObject(value.holds) ? { ...none, ...value } : none;
}

function parseHost(text: string): HostRecord | null {
  const value = json(text);
  if (!isObject(value) || typeof value.seenAt !== 'number' || !Array.isArray(value.labels)) return null;
  const { labels, seenAt, draining, id } = value;
  return { labels, seenAt, draining: draining === true, id: typeof id === 'string' ? id : null };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
