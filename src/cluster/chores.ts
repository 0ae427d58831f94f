import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { readEntries, setAsideRecord } from './entries.ts';
import { forgetHosts, readHosts } from './hosts.ts';
import { readQueues } from './queue-names.ts';
import { mailboxList, requestsOf } from './records.ts';
import { type Store, submissionShelves, type TimedStore } from './store.ts';
import { dropRecords } from './submit.ts';

/** Interval of the look for loops that are in no queue, and the age that they need. */
const mendEveryMs = 60_000;
const mendAtOnce = 100;
/** Interval of the sweep: a stray is removed when two sweeps in a row find it. */
const sweepEveryMs = 10 * 60_000;
const sweepAtOnce = 1000;

/** Returns the housekeeping of the store. A machine calls it whenever it asks for work. */
export function createChores(timed: TimedStore, checkMs: number): () => Promise<void> {
  const { store, now } = timed;
  const due = { rescue: 0, mend: 0 };
  return async () => {
    if (now() < due.rescue) return;
    due.rescue = now() + checkMs;
    await Promise.all((await readQueues(store)).map(({ name }) => store.queue(name).rescue()));
    if (now() < due.mend) return;
    due.mend = now() + mendEveryMs;
    // One machine does this for all.
    const last = await store.get('fleet', 'mended');
    if (!isDue(timed, Number(last ?? 0), mendEveryMs)) return;
    if (!(await store.swap('fleet', 'mended', last, String(now())))) return;
    await mend(timed);
    await forgetHosts(timed);
    await sweep(timed);
  };
}

/** True if an interval is over, or the clock was set back. */
function isDue({ now }: TimedStore, last: number, every: number): boolean {
  return Math.abs(now() - last) >= every;
}

/** Adds running loops that a crash left in no queue, and sets malformed records aside. */
async function mend({ store, now }: TimedStore): Promise<void> {
  const { entries, unreadable } = await readEntries(store);
  for (const { name } of unreadable) await setAsideRecord(store, name);
  const old = entries.filter(
    ({ loop }) => loop.status === 'running' && now() - loop.why.since >= mendEveryMs,
  );
  for (let at = 0; at < old.length; at += mendAtOnce) {
    await Promise.all(
      old.slice(at, at + mendAtOnce).map(async ({ queue, loop }) => {
        if (!(await store.queue(queue).has(loop.name))) await store.queue(queue).add(loop.name);
      }),
    );
  }
}

const straysSchema = v.object({ at: v.number(), strays: v.array(v.string()) });

/**
 * Removes what a crash left: orders of unfinished submissions, records of dropped ones, answers that nobody waits for.
 * Waits for a second sweep to find them: by then, anything in use belongs to a loop.
 */
async function sweep(timed: TimedStore): Promise<void> {
  const { store, now } = timed;
  const text = await store.get('fleet', 'strays');
  const before = parseAs(straysSchema, text) ?? { at: 0, strays: [] };
  if (!isDue(timed, before.at, sweepEveryMs)) return;
  const strays = await findStrays(store);
  if (!(await store.swap('fleet', 'strays', text, JSON.stringify({ at: now(), strays })))) return;
  for (const name of strays.filter((one) => before.strays.includes(one))) {
    await dropRecords(store, name);
    await store.clear(name);
  }
}

/** Returns the keys of submissions without a loop and the names of mailboxes without a machine. */
async function findStrays(store: Store): Promise<string[]> {
  // Lists the records first and the loops after them, so that nothing of a new loop looks like a stray.
  const keys = await Promise.all(submissionShelves.map((shelf) => store.keys(shelf)));
  const lists = (await store.lists()).map((list) => list.replace(/^(?:log|events):/, ''));
  const { entries, unreadable } = await readEntries(store);
  const owners = new Set(entries.map(({ key }) => key));
  // Nobody can tell the key of these.
  const unknown = [...unreadable.map(({ name }) => name), ...(await store.keys('aside'))];
  for (const host of (await readHosts(store)).keys()) owners.add(mailboxList(requestsOf(host)));
  return [...new Set([...keys.flat(), ...lists])]
    .filter((name) => !owners.has(name) && !unknown.some((loop) => name.startsWith(`${loop}:`)))
    .slice(0, sweepAtOnce);
}
