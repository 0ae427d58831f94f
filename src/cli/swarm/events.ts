import { type FleetEvent, readTimeline, type Timeline } from '../../fleet/files/events.ts';
import type { LoopRecord } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { showStamp, stamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { runOf } from '../../fleet/supervised-run.ts';
import { stateText } from '../../fleet/why.ts';
import type { Skipped } from '../../journal/event-lines.ts';
import { skippedText } from '../../journal/run-view.ts';
import { readRun } from '../../journal/runs.ts';
import type { Environment } from '../../os/process/program.ts';

/** The timeline of a worker, and what was skipped of it and of the journal of its run. */
export type Told = {
  readonly events: readonly FleetEvent[];
  /** Without a journal where no run is on this machine. */
  readonly skipped: { readonly timeline: Skipped; readonly journal?: Skipped };
};

export function toldBy({ events, ...timeline }: Timeline, journal?: Skipped): Told {
  return { events, skipped: { timeline, ...(journal === undefined ? {} : { journal }) } };
}

export function readTold(env: Environment, worker: Worker, loop: LoopRecord | null): Told {
  const timeline = readTimeline(loopPaths(env, worker.name).events);
  const run = loop && runOf(worker, loop);
  if (run === null) return toldBy(timeline);
  const { damaged, unknown } = readRun(run.cwd, run.id).view;
  return toldBy(timeline, { damaged, unknown });
}

/** What was skipped, in a sentence for each file. */
export function skippedTexts({ skipped: { timeline, journal } }: Told): string[] {
  const texts = [skippedText({ ...timeline, source: 'timeline' }), journal && skippedText(journal)];
  return texts.flatMap((text) => text ?? []);
}

/** A line of a timeline. */
export function eventText({ at, type, text }: FleetEvent): string {
  const told = type === 'screen' ? stateText(text) : text;
  return `${showStamp(stamp(at))}  ${told.replace(/\s+/g, ' ')}`;
}
