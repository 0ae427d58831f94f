import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { allEntries } from './entries.ts';
import { forgetHosts, readHosts } from './hosts.ts';
import { readLanes } from './lane-names.ts';
import { type Engine, type Store, submissionShelves } from './store.ts';

/** How often somebody looks for loops that no lane knows, and from what age. */
const mendEveryMs = 60_000;
const mendAtOnce = 100;
/** What belongs to nobody in two looks with so much time between them is thrown away. */
const sweepEveryMs = 10 * 60_000;
const sweepAtOnce = 1000;

/** What has to be done now and then by whoever asks for work. */
export function createChores(engine: Engine, checkMs: number): () => Promise<void> {
  const { store, now } = engine;
  const due = { rescue: 0, mend: 0 };
  return async () => {
    if (now() < due.rescue) return;
    due.rescue = now() + checkMs;
    for (const { name } of await readLanes(store)) await store.lane(name).rescue();
    if (now() < due.mend) return;
    due.mend = now() + mendEveryMs;
    // One of all machines is enough.
    const last = await store.get('fleet', 'mended');
    if (!isDue(engine, Number(last ?? 0), mendEveryMs)) return;
    if (!(await store.swap('fleet', 'mended', last, String(now())))) return;
    await mend(engine);
    await forgetHosts(engine);
    await sweep(engine);
  };
}

/** A clock that was set back must not keep everybody from looking. */
function isDue({ now }: Engine, last: number, every: number): boolean {
  return Math.abs(now() - last) >= every;
}

/** A crash between two writes may leave a loop that no lane knows. */
async function mend({ store, now }: Engine): Promise<void> {
  const old = (await allEntries(store)).filter(
    ({ loop }) => loop.status === 'running' && now() - loop.why.since >= mendEveryMs,
  );
  for (let at = 0; at < old.length; at += mendAtOnce) {
    await Promise.all(
      old.slice(at, at + mendAtOnce).map(async ({ lane, loop }) => {
        if (!(await store.lane(lane).has(loop.name))) await store.lane(lane).add(loop.name);
      }),
    );
  }
}

const straysSchema = v.object({ at: v.number(), strays: v.array(v.string()) });

type Stray = { readonly text: string; remove(): Promise<unknown> };

/**
 * A crash may also leave what belongs to no loop: the order of a submission that was never finished, the records of one
 * that was dropped, an answer that nobody waits for. Whoever is about to use such a thing has long done so by the
 * second look.
 */
async function sweep(engine: Engine): Promise<void> {
  const { store, now } = engine;
  const text = await store.get('fleet', 'strays');
  const before = parseAs(straysSchema, text) ?? { at: 0, strays: [] };
  if (!isDue(engine, before.at, sweepEveryMs)) return;
  const found = (await findStrays(store)).slice(0, sweepAtOnce);
  const known = new Set(before.strays);
  const [old, fresh] = [
    found.filter((one) => known.has(one.text)),
    found.filter((one) => !known.has(one.text)),
  ];
  const next = JSON.stringify({ at: now(), strays: fresh.map((one) => one.text) });
  if (!(await store.swap('fleet', 'strays', text, next))) return;
  for (const { remove } of old) await remove();
}

async function findStrays(store: Store): Promise<Stray[]> {
  // What may be a stray is listed before what it may belong to.
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
          remove: async () => store.swap(shelf, key, await store.get(shelf, key), null),
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
