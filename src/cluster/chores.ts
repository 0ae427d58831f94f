import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { allEntries } from './entries.ts';
import { forgetHosts, readHosts } from './hosts.ts';
import { readQueues } from './queue-names.ts';
import { type Store, submissionShelves, type TimedStore, updateRecord } from './store.ts';

/** How often a machine looks for loops that are in no queue, and how old those have to be. */
const mendEveryMs = 60_000;
const mendAtOnce = 100;
/** Strays that are still there after this time are removed. */
const sweepEveryMs = 10 * 60_000;
const sweepAtOnce = 1000;

/** Returns the housekeeping that a machine does now and then when it asks for work. */
export function createChores(timed: TimedStore, checkMs: number): () => Promise<void> {
  const { store, now } = timed;
  const due = { rescue: 0, mend: 0 };
  return async () => {
    if (now() < due.rescue) return;
    due.rescue = now() + checkMs;
    for (const { name } of await readQueues(store)) await store.queue(name).rescue();
    if (now() < due.mend) return;
    due.mend = now() + mendEveryMs;
    // One of all machines is enough.
    const last = await store.get('fleet', 'mended');
    if (!isDue(timed, Number(last ?? 0), mendEveryMs)) return;
    if (!(await store.swap('fleet', 'mended', last, String(now())))) return;
    await mend(timed);
    await forgetHosts(timed);
    await sweep(timed);
  };
}

/** A clock that was set back must not keep everybody from looking. */
function isDue({ now }: TimedStore, last: number, every: number): boolean {
  return Math.abs(now() - last) >= every;
}

/** A crash between two writes may leave a loop that no queue knows. */
async function mend({ store, now }: TimedStore): Promise<void> {
  const old = (await allEntries(store)).filter(
    ({ loop }) => loop.status === 'running' && now() - loop.why.since >= mendEveryMs,
  );
  for (let at = 0; at < old.length; at += mendAtOnce) {
    await Promise.all(
      old.slice(at, at + mendAtOnce).map(async ({ lane, loop }) => {
        if (!(await store.queue(lane).has(loop.name))) await store.queue(lane).add(loop.name);
      }),
    );
  }
}

const straysSchema = v.object({ at: v.number(), strays: v.array(v.string()) });

type Stray = { readonly text: string; remove(): Promise<unknown> };

/**
 * Removes what a crash left without a loop: the order of an unfinished submission, the records of a dropped one, an
 * answer that nobody waits for. Only what two looks found: by the second, anything in use belongs to a loop.
 */
async function sweep(timed: TimedStore): Promise<void> {
  const { store, now } = timed;
  const text = await store.get('fleet', 'strays');
  const before = parseAs(straysSchema, text) ?? { at: 0, strays: [] };
  if (!isDue(timed, before.at, sweepEveryMs)) return;
  const strays = (await findStrays(store)).slice(0, sweepAtOnce);
  const earlier = new Set(before.strays);
  const [old, fresh] = [
    strays.filter((one) => earlier.has(one.text)),
    strays.filter((one) => !earlier.has(one.text)),
  ];
  const next = JSON.stringify({ at: now(), strays: fresh.map((one) => one.text) });
  if (!(await store.swap('fleet', 'strays', text, next))) return;
  for (const { remove } of old) await remove();
}

async function findStrays(store: Store): Promise<Stray[]> {
  // Lists the records first and the loops after them, so that nothing of a new loop looks like a stray.
  const shelves = await Promise.all(
    submissionShelves.map(async (shelf) => ({ shelf, keys: await store.keys(shelf) })),
  );
  const lists = await store.lists();
  const keys = new Set((await allEntries(store)).map(({ key }) => key));
  const hosts = await readHosts(store);
  const isUsed = (list: string) => {
    const [kind = '', rest = ''] = split(list);
    if (kind === 'log' || kind === 'events') return keys.has(rest);
    const [box, host = ''] = split(rest);
    return kind !== 'box' || (box === 'letters' && hosts.has(host));
  };
  return [
    ...shelves.flatMap(({ shelf, keys: there }) =>
      there
        .filter((key) => !keys.has(key))
        .map((key) => ({
          text: `${shelf}/${key}`,
          remove: () => updateRecord(store, shelf, key, () => null),
        })),
    ),
    ...lists
      .filter((list) => !isUsed(list))
      .map((list) => ({ text: `list/${list}`, remove: () => store.clear(list) })),
  ];
}

function split(text: string): [string, string] {
  const at = text.indexOf(':');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
