import type { FleetEvent } from '../fleet/files/events.ts';
import type { Why } from '../fleet/files/loops.ts';
import type { Clock } from '../os/clock.ts';
import { addLines, type Claim, isOver, updateEntry } from './entries.ts';
import type { Store } from './store.ts';

/** Report of a machine about a loop that it holds. */
export type News = {
  readonly why?: Why;
  /** The end of what the agent printed; replaces the one before. */
  readonly tail?: string;
  readonly events?: readonly FleetEvent[];
  /** The commit that was pushed. */
  readonly head?: string;
  /** State for the next machine that runs the loop, as text. */
  readonly runState?: string;
};

const newsMs = 1000;
const tailChars = 64 * 1024;

/** Collects news of a loop and reports them to the store, at most once a second. */
export function collectNews(
  report: (claim: Claim, news: News) => Promise<void>,
  clock: Clock,
  claim: () => Claim,
) {
  let waiting: News = {};
  let sending: Promise<void> = Promise.resolve();
  let cancel: (() => void) | null = null;

  async function send(): Promise<void> {
    const news = waiting;
    if (Object.keys(news).length === 0) return;
    waiting = {};
    await report(claim(), news).catch(() => {
      // Goes out with the next report.
      waiting = { ...news, ...waiting, events: joined(news, waiting).slice(-100) };
    });
  }

  const flush = () => {
    cancel?.();
    cancel = null;
    sending = sending.then(send);
    return sending;
  };
  return {
    add(news: News): void {
      waiting = { ...waiting, ...news, events: joined(waiting, news) };
      cancel ??= clock.timer(newsMs, () => void flush());
    },
    flush,
  };
}

function joined(one: News, other: News): FleetEvent[] {
  return [...(one.events ?? []), ...(other.events ?? [])];
}

/** Stores what a machine reports about a loop that it holds. */
export async function storeNews(store: Store, claim: Claim, news: News): Promise<void> {
  const { why, head, tail, runState, events = [] } = news;
  const step = await updateEntry(store, claim.name, (entry) => {
    if (String(entry.loop.launch) !== claim.token || isOver(entry)) return null;
    return {
      change: why === undefined ? {} : { why },
      events,
      ...(head === undefined ? {} : { entry: { head } }),
    };
  });
  if (step === null) return;
  const { key } = step.after;
  // Stores the events even if another machine has the loop: they tell that a push came too late.
  if (!step.changed) return addLines(store, key, { events });
  if (tail !== undefined) await store.put('tails', key, tail.slice(-tailChars));
  if (runState !== undefined) await store.put('runStates', key, runState);
}
