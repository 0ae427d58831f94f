import type { ServerResponse } from 'node:http';
import type { RunView } from '../../journal/run-view.ts';
import type { Library } from './library.ts';
import type { LoopSummary } from './summarise.ts';

/** Somebody who looks at the page: what was sent already. */
type Viewer = {
  readonly response: ServerResponse;
  readonly loop: string | null;
  /** `seq` of the last event sent; -1 before the first. */
  seq: number;
  /** All summaries as they were sent, by loop; null before the first. */
  sent: ReadonlyMap<string, LoopSummary> | null;
  /** The summary of the watched loop when its view was sent: that may change without an event in its journal. */
  watched: LoopSummary | null;
  trouble: string | null;
};

/** All loops first, and then those that changed or went away. */
export type ListUpdate = {
  readonly all: boolean;
  readonly loops: readonly LoopSummary[];
  /** Ids of those that are not there any more. */
  readonly gone: readonly string[];
  readonly trouble: string | null;
};

/** The head of a view, and the iterations of it that changed since the viewer looked last. */
export type ViewUpdate = RunView & {
  readonly id: string;
  /** How many iterations there are in all; a viewer that has more starts anew. */
  readonly count: number;
};

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

/** The event streams. All viewers share one timer; without viewers there is none. */
export class Streams {
  readonly #library: Library;
  readonly #viewers = new Set<Viewer>();
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #lastBeat = 0;
  #isLooking = false;

  constructor(library: Library) {
    this.#library = library;
  }

  /** Answers with everything so far, or what is new after `seq`, and then with what comes. */
  open(response: ServerResponse, loop: string | null, seq: number): void {
    response.writeHead(200, streamHeaders);
    const viewer: Viewer = { response, loop, seq, sent: null, watched: null, trouble: null };
    this.#viewers.add(viewer);
    response.on('close', () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size === 0) this.#stop();
    });
    response.write('retry: 1000\n\n');
    // Ignores a failed look: the next one may succeed.
    const goOn = () => void this.#look().catch(() => {});
    this.#timer ??= setInterval(goOn, lookMs);
    this.#looks = 0;
    goOn();
  }

  /** Tells all viewers that the dashboard ends, and the command that starts it again. */
  close(command: string): void {
    this.#stop();
    for (const { response } of this.#viewers)
      response.end(`event: ended\ndata: ${JSON.stringify(command)}\n\n`);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (this.#looks++ % listEvery === 0) await this.#library.list();
    } finally {
      this.#isLooking = false;
    }
    this.#library.look(new Set([...this.#viewers].flatMap(({ loop }) => loop ?? [])));
    const isBeat = performance.now() - this.#lastBeat > beatMs;
    if (isBeat) this.#lastBeat = performance.now();
    for (const viewer of this.#viewers) {
      if (isBeat) viewer.response.write(': still here\n\n');
      if (viewer.response.writableLength > maxWaitingBytes) viewer.response.destroy();
      else tell(viewer, this.#library);
    }
  }
}

function tell(viewer: Viewer, library: Library): void {
  const summaries = new Map(library.summaries().map((summary) => [summary.id, summary]));
  const { response, loop, sent } = viewer;
  const loops = [...summaries.values()].filter((summary) => sent?.get(summary.id) !== summary);
  const gone = [...(sent?.keys() ?? [])].filter((id) => !summaries.has(id));
  const { trouble } = library;
  const update: ListUpdate = { all: sent === null, loops, gone, trouble };
  if (update.all || loops.length > 0 || gone.length > 0 || trouble !== viewer.trouble)
    response.write(`event: loops\ndata: ${JSON.stringify(update)}\n\n`);
  viewer.sent = summaries;
  viewer.trouble = trouble;
  const watched = summaries.get(loop ?? '');
  const view = library.view(loop ?? '');
  if (!loop || !watched || !view || (view.seq === viewer.seq && watched === viewer.watched)) return;
  const data = JSON.stringify(updateOf(loop, view, viewer.seq));
  response.write(`id: ${view.seq}\nevent: view\ndata: ${data}\n\n`);
  viewer.seq = view.seq;
  viewer.watched = watched;
}

/**
 * A journal that was written anew has a smaller `seq`: then all of it is news. The last iteration always is: it may have
 * been cut short without a word.
 */
function updateOf(id: string, view: RunView, since: number): ViewUpdate {
  const from = since > view.seq ? -1 : since;
  const count = view.iterations.length;
  const iterations = view.iterations.filter(({ seq, index }) => seq > from || index === count - 1);
  return { ...view, id, iterations, count };
}
