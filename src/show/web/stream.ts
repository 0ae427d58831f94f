import type { ServerResponse } from 'node:http';
import type { RunView } from '../../journal/run-view.ts';
import type { Changes, Library } from './library.ts';

/** Somebody who looks at the page: what was sent already. */
type Viewer = {
  readonly response: ServerResponse;
  readonly loop: string | null;
  /** `seq` of the last event sent; -1 before the first. */
  seq: number;
  /** Revisions of the list and of the watched loop that were sent last. */
  revision: number;
  loopRevision: number;
  trouble: string | null;
};

/** All loops first, and then those that changed or went away. */
export type ListUpdate = Omit<Changes, 'revision'> & { readonly all: boolean };

/** The head of a view, and the goes of it that changed since the viewer looked last. */
export type ViewUpdate = Omit<RunView, 'iterations'> & {
  readonly id: string;
  readonly iterations: RunView['iterations'];
  /** How many there are in all; a viewer that has more starts anew. */
  readonly count: number;
};

export type Streams = ReturnType<typeof createStreams>;

export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

const lookMs = 300;
/** New loops are looked for at every nth look. */
const listEvery = 5;
const beatMs = 15_000;
/** A viewer that does not read is dropped; it comes back and is told what it missed. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Creates the event streams. All viewers share one timer; without viewers there is none. */
export function createStreams(library: Library) {
  const viewers = new Set<Viewer>();
  let timer: NodeJS.Timeout | null = null;
  let looks = 0;
  let lastBeat = 0;
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      if (looks++ % listEvery === 0) await library.list();
    } finally {
      isLooking = false;
    }
    library.look(new Set([...viewers].flatMap(({ loop }) => (loop === null ? [] : [loop]))));
    const isBeat = performance.now() - lastBeat > beatMs;
    if (isBeat) lastBeat = performance.now();
    const written = new Map<string, string>();
    for (const viewer of viewers) {
      if (isBeat) viewer.response.write(': still here\n\n');
      tell(viewer, written);
    }
  }

  function tell(viewer: Viewer, written: Map<string, string>): void {
    if (viewer.response.writableLength > maxWaitingBytes) {
      viewer.response.destroy();
      return;
    }
    tellList(viewer);
    if (viewer.loop === null) return;
    const view = library.view(viewer.loop);
    const loopRevision = library.revisionOf(viewer.loop);
    if (view === null || (view.seq === viewer.seq && loopRevision === viewer.loopRevision)) return;
    // Viewers that are equally far get the same words, which are made once.
    const key = `${viewer.loop} ${viewer.seq}`;
    const text = written.get(key) ?? JSON.stringify(updateOf(viewer.loop, view, viewer.seq));
    written.set(key, text);
    viewer.seq = view.seq;
    viewer.loopRevision = loopRevision;
    viewer.response.write(`id: ${view.seq}\nevent: view\ndata: ${text}\n\n`);
  }

  function tellList(viewer: Viewer): void {
    const { revision, ...changes } = library.changedSince(viewer.revision);
    const all = viewer.revision === -1;
    const isNews = all || changes.loops.length > 0 || changes.gone.length > 0;
    if (isNews || changes.trouble !== viewer.trouble)
      send(viewer, 'loops', { all, ...changes } satisfies ListUpdate);
    viewer.revision = revision;
    viewer.trouble = changes.trouble;
  }

  function send({ response }: Viewer, event: string, data: unknown): void {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ignores a failed look: the next one may succeed. */
  function goOn(): void {
    look().catch(() => {});
  }

  return {
    /** Answers with everything so far, or what is new after `seq`, and then with what comes. */
    open(response: ServerResponse, loop: string | null, seq: number): void {
      response.writeHead(200, streamHeaders);
      const viewer: Viewer = { response, loop, seq, revision: -1, loopRevision: -1, trouble: null };
      viewers.add(viewer);
      response.on('close', () => {
        viewers.delete(viewer);
        if (viewers.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      });
      response.write('retry: 1000\n\n');
      timer ??= setInterval(goOn, lookMs);
      looks = 0;
      goOn();
    },
    close(): void {
      if (timer !== null) clearInterval(timer);
      for (const { response } of viewers) response.destroy();
    },
  };
}

/**
 * A journal that was written anew has a smaller `seq`: then all of it is news. The last iteration always is: it may have
 * been cut short without a word.
 */
function updateOf(id: string, { iterations, ...head }: RunView, since: number): ViewUpdate {
  const from = since > head.seq ? -1 : since;
  const count = iterations.length;
  const news = iterations.filter(({ seq, index }) => seq > from || index === count - 1);
  return { id, ...head, iterations: news, count };
}
