import type { Clock } from '../os/clock.ts';
import type { Claim, Cluster, News } from './cluster.ts';

const newsMs = 1000;

/** Collects news of a loop and reports them to the store, at most once a second. */
export function collectNews(cluster: Cluster, clock: Clock, claim: () => Claim) {
  let waiting: News = {};
  let sending: Promise<void> = Promise.resolve();
  let cancel: (() => void) | null = null;

  async function send(): Promise<void> {
    const news = waiting;
    if (Object.keys(news).length === 0) return;
    waiting = {};
    await cluster.report(claim(), news).catch(() => {
      // Goes out with the next report.
      waiting = {
        ...news,
        ...waiting,
        events: [...(news.events ?? []), ...(waiting.events ?? [])].slice(-100),
      };
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
      waiting = { ...waiting, ...news, events: [...(waiting.events ?? []), ...(news.events ?? [])] };
      cancel ??= clock.timer(newsMs, () => void flush());
    },
    flush,
  };
}
