import type { Claim, News } from './cluster.ts';
import { isOver, tell, updateEntry } from './entries.ts';
import type { Store } from './store.ts';

const tailChars = 64 * 1024;

/** Takes in what a machine tells of a loop that it holds. */
export async function reportNews(store: Store, claim: Claim, news: News): Promise<void> {
  const { why, head, tail, carried, events = [] } = news;
  const step = await updateEntry(store, claim.name, (entry) => {
    if (String(entry.loop.launch) !== claim.token || isOver(entry)) return null;
    return {
      change: why === undefined ? {} : { why },
      events,
      ...(head === undefined ? {} : { entry: { head } }),
    };
  });
  // What happened is told whoever has the loop by now: that a push came too late, above all.
  if (step !== null && !step.changed) await tell(store, step.after.key, { events });
  if (!step?.changed) return;
  const { key } = step.after;
  if (tail !== undefined) await overwrite(store, 'tails', key, tail.slice(-tailChars));
  if (carried !== undefined) await overwrite(store, 'carried', key, carried);
}

async function overwrite(store: Store, shelf: 'tails' | 'carried', key: string, text: string): Promise<void> {
  for (;;) {
    if (await store.swap(shelf, key, await store.get(shelf, key), storable(text))) return;
  }
}

/** PostgreSQL has no place for this one character. */
export function storable(text: string): string {
  return text.replaceAll('\0', '');
}
