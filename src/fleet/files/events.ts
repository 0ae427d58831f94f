import * as v from 'valibot';
import { parseAs } from '../../core/parse-as.ts';
import { readEventLines, type Skipped } from '../../journal/event-lines.ts';
import { outcome } from '../../journal/loop-schemas.ts';
import { appendText } from '../../os/files/append-text.ts';
import { readText } from '../../os/files/files.ts';

const types = v.picklist([
  'spawned',
  'iteration.started',
  'iteration.ended',
  'inactive',
  'backoff',
  'queued',
  'paused',
  'resumed',
  'done',
  'unfinished',
  'failed',
  'stopped',
  'window-lost',
  'screen',
  'limit',
  'context',
  'prompted',
  /** A push came too late: another machine had moved the branch. */
  'fenced',
  /** Work that is not on the branch was put aside. */
  'kept',
  'notice',
]);

export const fleetEvent = v.object({
  /** Epoch milliseconds. */
  at: v.number(),
  type: types,
  text: v.string(),
  iteration: v.exactOptional(v.number()),
  exitCode: v.exactOptional(v.nullable(v.number())),
  outcome: v.exactOptional(outcome),
});
export type FleetEvent = Readonly<v.InferOutput<typeof fleetEvent>>;

/** Adds to a timeline. A crash may lose an entry: nothing is decided by it. */
export function appendFleetEvents(path: string, events: readonly FleetEvent[]): void {
  if (events.length === 0) return;
  appendText(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

/** A timeline, oldest first, and how many of its lines were skipped. */
export type Timeline = Skipped & { readonly events: readonly FleetEvent[] };

export function readTimeline(path: string): Timeline {
  return timelineOf((readText(path, { maxBytes: Number.POSITIVE_INFINITY }) ?? '').split('\n'));
}

export function timelineOf(lines: readonly string[]): Timeline {
  return readEventLines(lines, readFleetEvent);
}

/** Event of a type that only a newer release knows. */
const unknownEvent = v.object({
  at: v.number(),
  type: v.pipe(
    v.string(),
    v.check((type) => !v.is(types, type)),
  ),
});

function readFleetEvent(line: string): FleetEvent | keyof Skipped {
  return parseAs(fleetEvent, line) ?? (parseAs(unknownEvent, line) === null ? 'damaged' : 'unknown');
}
