import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { isWorkerName } from '../fleet/files/paths.ts';
import { type Clock, systemClock } from '../os/clock.ts';
import { listDir } from '../os/files/files.ts';
import { readPart } from '../os/files/read-part.ts';
import type { Cluster } from './cluster.ts';
import { placesIn } from './places.ts';

// The full record of a loop stays on the machines that ran it. A reader requests it by messages, piece by piece: nobody
// connects to a machine, and the store never holds more than one piece.

const pieceBytes = 192 * 1024;
/** Pause between two looks for requests; shorter while somebody reads. */
const lookMs = 1000;
const busyLookMs = 20;
const busyForMs = 3000;
const answerMs = 15_000;
const logName = /^(\d{3,})(?:\.try-(\d+))?\.log$/;

/** Request for a log file. Anybody with access to the store can write one: only names of our files are valid. */
const requestSchema = v.object({
  name: v.pipe(v.string(), v.check(isWorkerName)),
  /** Mailbox for the answer. */
  reply: v.pipe(v.string(), v.startsWith('reply:')),
  /** File to read; without it, the answer is the list of files. */
  file: v.exactOptional(v.pipe(v.string(), v.regex(logName))),
  from: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});
type RecordRequest = v.InferOutput<typeof requestSchema>;

const answerSchema = v.object({
  files: v.optional(v.array(v.pipe(v.string(), v.regex(logName))), []),
  bytes: v.optional(v.string(), ''),
});
type Answer = v.InferOutput<typeof answerSchema>;

type Mail = Pick<Cluster, 'take' | 'post'>;

/** Answers the requests to a machine until `over`. A failure is not reported: the reader asks again. */
export async function answerRequests(
  cluster: Mail,
  { host, folder, clock, over }: { host: string; folder: string; clock: Clock; over: AbortSignal },
): Promise<void> {
  let busyUntil = 0;
  while (!over.aborted) {
    try {
      const text = await cluster.take(requestsOf(host));
      if (text !== null) {
        busyUntil = clock.monotonic() + busyForMs;
        const request = parseAs(requestSchema, text);
        if (request !== null) await cluster.post(request.reply, JSON.stringify(answerTo(request, folder)));
        continue;
      }
    } catch {
      // The store is away: later.
    }
    await clock.sleep(clock.monotonic() < busyUntil ? busyLookMs : lookMs, over);
  }
}

/**
 * Reads the logs of a loop from all machines, in order, and calls `each` with a title and a piece. Returns the machines
 * that did not answer.
 */
export async function fetchRecords(
  cluster: Mail,
  name: string,
  hosts: readonly string[],
  each: (title: string, bytes: Buffer) => void,
): Promise<string[]> {
  // Asks all at once, because a machine that is gone takes the whole timeout.
  const lists = await Promise.all(
    hosts.map(async (host) => ({ host, list: await ask(cluster, host, { name }) })),
  );
  for (const { host, list } of lists) {
    for (const file of list?.files ?? []) {
      const [, iteration, attempt] = logName.exec(file) ?? [];
      const title = `iteration ${Number(iteration)}${attempt === undefined ? '' : `, try ${attempt}`} on ${host}`;
      for (let from = 0; ; ) {
        const answer = await ask(cluster, host, { name, file, from });
        const bytes = Buffer.from(answer?.bytes ?? '', 'base64');
        each(title, bytes);
        from += bytes.length;
        if (bytes.length < pieceBytes) break;
      }
    }
  }
  return lists.flatMap(({ host, list }) => (list === null ? [host] : []));
}

async function ask(
  { post, take }: Mail,
  host: string,
  request: Omit<RecordRequest, 'reply'>,
): Promise<Answer | null> {
  const reply = `reply:${randomUUID()}`;
  await post(requestsOf(host), JSON.stringify({ ...request, reply }));
  const until = systemClock.monotonic() + answerMs;
  while (systemClock.monotonic() < until) {
    const answer = await take(reply);
    if (answer !== null) return parseAs(answerSchema, answer);
    await systemClock.sleep(busyLookMs);
  }
  return null;
}

function answerTo({ name, file, from = 0 }: RecordRequest, folder: string): Partial<Answer> {
  const { root } = placesIn(folder).record(name);
  const files = listDir(root).filter((one) => logName.test(one));
  if (file === undefined) return { files: files.sort(inOrder) };
  const bytes = readPart(join(root, file), from, pieceBytes) ?? Buffer.alloc(0);
  return { bytes: bytes.toString('base64') };
}

/** Sorts by iteration, earlier tries first. */
function inOrder(one: string, other: string): number {
  const [a, b] = [one, other].map((file) => file.replace(/^(\d+)\.log$/, '$1.try-last.log'));
  return (a ?? '').localeCompare(b ?? '', 'en', { numeric: true });
}

/** Mailbox for requests to a machine. */
function requestsOf(host: string): string {
  return `requests:${host}`;
}
