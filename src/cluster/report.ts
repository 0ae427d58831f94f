import type { Claim, News } from './cluster.ts';
import { isOver, tell, updateEntry } from './entries.ts';
import { type Store, updateRecord } from './store.ts';

const tailChars = 64 * 1024;

/** Stores what a machine reports about a loop that it holds. */
export async function reportNews(store: Store, claim: Claim, news: News): Promise<void> {
  const { why, head, tail, runState, events = [] } = news;
  const step = await updateEntry(store, claim.name, (entry) => {
    if (String(entry.loop.launch) !== claim.token || isOver(entry)) return null;
    return {
      change: why === undefined ? {} : { why },
      events,
      ...(head === undefined ? {} : { entry: { head } }),
    };
  });
  // Stores the events even if another machine has the loop: they tell that a push came too late.
  if (step !== null && !step.changed) await tell(store, step.after.key, { events });
  if (!step?.changed) return;
  const { key } = step.after;
  if (tail !== undefined) await updateRecord(store, 'tails', key, () => storable(tail.slice(-tailChars)));
  if (runState !== undefined) await updateRecord(store, 'runStates', key, () => storable(runState));
}

/** Removes NUL characters, which PostgreSQL refuses in text. */
export function storable(text: string): string {
  return text.replaceAll('\0', '');
}
