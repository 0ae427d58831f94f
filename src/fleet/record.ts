import type { LoopOptions, LoopRecord, LoopSettings } from '../store/fleet-loops.ts';
import { runIdFor } from '../store/runs.ts';

/** What a new loop is asked to do. */
export type NewLoop = {
  readonly settings: LoopSettings;
  readonly options: LoopOptions;
  /** Start the agent, but drive nothing yet. */
  readonly held: boolean;
};

/** A loop before its first iteration. */
export function newRecord(name: string, { settings, options, held }: NewLoop, at: number): LoopRecord {
  return {
    v: 1,
    name,
    status: 'running',
    iteration: 0,
    ended: 0,
    launch: 0,
    startedAt: at,
    iterationStartedAt: null,
    failures: 0,
    totalFailures: 0,
    waitUntil: null,
    held,
    why: { state: 'queued', since: at },
    end: null,
    settings,
    options: options.run === undefined ? options : { ...options, runId: runIdFor(name, at) },
    lines: [],
  };
}
