import * as fs from 'node:fs';
import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { outcome } from './loop-schemas.ts';

/** One entry in the timeline of a worker. */
export const fleetEvent = v.object({
  /** Epoch milliseconds. */
  at: v.number(),
  type: v.picklist([
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
  ]),
  /** For people. */
  text: v.string(),
  iteration: v.exactOptional(v.number()),
  exitCode: v.exactOptional(v.nullable(v.number())),
  /** Of the end of a loop. */
  outcome: v.exactOptional(outcome),
});
export type FleetEvent = Readonly<v.InferOutput<typeof fleetEvent>>;

/** Adds to a timeline; it tells what happened and decides nothing, so that it may miss an entry after a crash. */
export function appendFleetEvents(path: string, events: readonly FleetEvent[]): void {
  if (events.length === 0) return;
  fs.appendFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { mode: 0o600 });
}

/** A timeline, oldest first; torn lines are left out. */
export function readFleetEvents(path: string): FleetEvent[] {
  if (!fs.existsSync(path)) return [];
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => parseAs(fleetEvent, line) ?? []);
}
