import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import type { Store } from './store.ts';

/** Loops of one account that ask for the same labels wait in one lane. */
const laneSchema = v.object({
  account: v.fallback(v.nullable(v.string()), null),
  labels: v.pipe(v.array(v.string()), v.readonly()),
});
export type LaneInfo = Readonly<v.InferOutput<typeof laneSchema>> & { readonly name: string };

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
    const lane = parseAs(laneSchema, text);
    return lane === null ? [] : [{ name, ...lane }];
  });
}

/** Whether a machine with these labels may run what waits there. */
export function fits(lane: Pick<LaneInfo, 'labels'>, labels: readonly string[]): boolean {
  return lane.labels.every((label) => labels.includes(label));
}
