import * as fs from 'node:fs';
import type { Outcome } from '../core/outcome.ts';

/** One entry in the timeline of a worker. `text` is for people; `at` is epoch milliseconds. */
export type FleetEvent = {
  readonly at: number;
  readonly type:
    | 'spawned'
    | 'iteration.started'
    | 'iteration.ended'
    | 'inactive'
    | 'backoff'
    | 'queued'
    | 'paused'
    | 'resumed'
    | 'done'
    | 'unfinished'
    | 'failed'
    | 'stopped'
    | 'window-lost'
    | 'screen'
    | 'limit'
    | 'context'
    | 'prompted'
    /** A push came too late: another machine had moved the branch. */
    | 'fenced'
    /** Work that is not on the branch was put aside. */
    | 'kept'
    | 'notice';
  readonly text: string;
  readonly iteration?: number;
  readonly exitCode?: number | null;
  /** Of the end of a loop. */
  readonly outcome?: Outcome;
};

/** Adds to a timeline; it tells what happened and decides nothing, so that it may miss an entry after a crash. */
export function appendFleetEvents(path: string, events: readonly FleetEvent[]): void {
  if (events.length === 0) return;
  fs.appendFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { mode: 0o600 });
}

/** A timeline, oldest first; torn lines are left out. */
export function readFleetEvents(path: string): FleetEvent[] {
  if (!fs.existsSync(path)) return [];
  return fs.readFileSync(path, 'utf8').split('\n').flatMap(readEvent);
}

function readEvent(line: string): FleetEvent[] {
  try {
    const event = JSON.parse(line);
    return typeof event?.at === 'number' && typeof event.type === 'string' ? [event] : [];
  } catch {
    return [];
  }
}
