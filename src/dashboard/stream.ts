import type { ServerResponse } from 'node:http';
import type { Picture } from '../view/picture.ts';
import type { Library } from './library.ts';

/** Somebody who looks at the page: what was sent already. */
type Viewer = {
  readonly response: ServerResponse;
  readonly loop: string | null;
  seq: number;
  revision: number;
};

/** The head of a picture, and the goes of it that changed since the viewer looked last. */
export type PictureUpdate = Omit<Picture, 'iterations'> & {
  readonly id: string;
  readonly iterations: Picture['iterations'];
  /** How many there are in all; a viewer that has more starts anew. */
  readonly count: number;
};

export type Streams = {
  /** Answers with everything so far, or what is new after `seq`, and then with what comes. */
  open(response: ServerResponse, loop: string | null, seq: number): void;
  close(): void;
};

const lookMs = 300;
/** New loops are looked for at every nth look. */
const listEvery = 5;
const beatMs = 15_000;
/** A viewer that does not read is dropped; it comes back and is told what it missed. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** One timer for all viewers, and none without any. */
export function createStreams(library: Library): Streams {
  const viewers = new Set<Viewer>();
  let timer: NodeJS.Timeout | null = null;
  let looks = 0;
  let lastBeat = 0;

  function look(): void {
    const watched = new Set([...viewers].flatMap(({ loop }) => (loop === null ? [] : [loop])));
    library.refresh(watched, looks++ % listEvery === 0);
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
    const { loops, revision } = library.changedSince(viewer.revision);
    if (loops.length > 0) send(viewer, 'loops', { loops });
    viewer.revision = revision;
    if (viewer.loop === null) return;
    const picture = library.picture(viewer.loop);
    if (picture === null || picture.seq === viewer.seq) return;
    // Viewers that are equally far get the same words, which are made once.
    const key = `${viewer.loop} ${viewer.seq}`;
    const text = written.get(key) ?? JSON.stringify(updateOf(viewer.loop, picture, viewer.seq));
    written.set(key, text);
    viewer.seq = picture.seq;
    viewer.response.write(`id: ${picture.seq}\nevent: picture\ndata: ${text}\n\n`);
  }

  function send({ response }: Viewer, event: string, data: unknown): void {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  return {
    open(response, loop, seq) {
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'X-Accel-Buffering': 'no',
      });
      const viewer: Viewer = { response, loop, seq, revision: 0 };
      viewers.add(viewer);
      response.on('close', () => {
        viewers.delete(viewer);
        if (viewers.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      });
      response.write('retry: 1000\n\n');
      timer ??= setInterval(look, lookMs);
      looks = 0;
      look();
    },
    close() {
      if (timer !== null) clearInterval(timer);
      for (const { response } of viewers) response.destroy();
    },
  };
}

/** A journal that was written anew has a smaller `seq`: then all of it is news. */
function updateOf(id: string, { iterations, ...head }: Picture, since: number): PictureUpdate {
  const from = since > head.seq ? 0 : since;
  return { id, ...head, iterations: iterations.filter(({ seq }) => seq > from), count: iterations.length };
}
