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

/** The timeline of a worker, and how many lines of it and of its run's journal could not be read. */
export type History = {
  readonly events: readonly FleetEvent[];
  /** No `journal` if this machine has no run of the loop. */
  readonly skipped: { readonly timeline: Skipped; readonly journal?: Skipped };
};

export function historyOf({ events, ...timeline }: Timeline, journal?: Skipped): History {
  return { events, skipped: { timeline, ...(journal === undefined ? {} : { journal }) } };
}

/** Reads the history of a worker of this machine. */
export function readHistory(env: Environment, worker: Worker, loop: LoopRecord | null): History {
  const timeline = readTimeline(loopPaths(env, worker.name).events);
  const run = loop && runOf(worker, loop);
  if (run === null) return historyOf(timeline);
  const { damaged, unknown } = readRun(run.cwd, run.id).view;
  return historyOf(timeline, { damaged, unknown });
}

/** One sentence for each file with lines that were skipped. */
export function skippedTexts({ skipped: { timeline, journal } }: History): string[] {
  const texts = [skippedText({ ...timeline, source: 'timeline' }), journal && skippedText(journal)];
  return texts.flatMap((text) => text ?? []);
}

/** A line of a timeline. */
export function eventText({ at, type, text }: FleetEvent): string {
  const line = type === 'screen' ? stateText(text) : text;
  return `${showStamp(stamp(at))}  ${line.replace(/\s+/g, ' ')}`;
}
