import { isObject } from '../core/json.ts';
import { parsed } from './json.ts';
import type { Store } from './store.ts';

/** Loops of one account that ask for the same labels wait in one lane. */
export type LaneInfo = {
  readonly name: string;
  readonly account: string | null;
  readonly labels: readonly string[];
};

/** The lane of a loop; a colon is no part of the name of a queue. */
export function laneFor(account: string | null, labels: readonly string[]): LaneInfo {
  const words = [account ?? '-', ...[...new Set(labels)].sort()].map(encodeURIComponent);
  return { name: words.join('+'), account, labels: [...new Set(labels)].sort() };
}

export async function ensureLane(store: Store, lane: LaneInfo): Promise<void> {
  const { account, labels } = lane;
  await store.swap('lanes', lane.name, null, JSON.stringify({ account, labels }));
}

export async function readLanes(store: Store): Promise<readonly LaneInfo[]> {
  return [...(await store.all('lanes'))].flatMap(([name, text]) => {
    const value = parsed(text);
    if (!isObject(value) || !Array.isArray(value.labels)) return [];
    return [
      { name, account: typeof value.account === 'string' ? value.account : null, labels: value.labels },
    ];
  });
}

/** Whether a machine with these labels may run what waits there. */
export function fits(lane: Pick<LaneInfo, 'labels'>, labels: readonly string[]): boolean {
  return lane.labels.every((label) => labels.includes(label));
}
