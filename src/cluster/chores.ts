import { readEntries, setAsideRecord } from './entries.ts';
import { readQueues } from './queues.ts';
import { checkMs } from './redis-scripts.ts';
import type { TimedStore } from './store.ts';

/** Interval of the look for loops that are in no queue, and the age that they need. */
const mendEveryMs = 60_000;
const mendAtOnce = 100;

/** Returns the housekeeping of the store. A machine calls it whenever it asks for work. */
export function createChores(timed: TimedStore): () => Promise<void> {
  const { store, leaseMs, now } = timed;
  const due = { rescue: 0, mend: 0 };
  return async () => {
    if (now() < due.rescue) return;
    due.rescue = now() + checkMs(leaseMs);
    await Promise.all((await readQueues(store)).map(({ name }) => store.queue(name).rescue()));
    if (now() < due.mend) return;
    due.mend = now() + mendEveryMs;
    // One machine does this for all. The clock may have been set back.
    const last = await store.get('fleet', 'mended');
    if (Math.abs(now() - Number(last ?? 0)) < mendEveryMs) return;
    if (await store.swap('fleet', 'mended', last, String(now()))) await mend(timed);
  };
}

/** Adds running loops that a crash left in no queue, and sets malformed records aside. */
async function mend({ store, now }: TimedStore): Promise<void> {
  const { entries, unreadable } = await readEntries(store);
  for (const { name } of unreadable) await setAsideRecord(store, name);
  const old = entries.filter(
    ({ loop }) => loop.status === 'running' && now() - loop.why.since >= mendEveryMs,
  );
  for (let at = 0; at < old.length; at += mendAtOnce) {
    const some = old.slice(at, at + mendAtOnce);
    await Promise.all(some.map(({ queue, loop }) => store.queue(queue).add(loop.name)));
  }
}
