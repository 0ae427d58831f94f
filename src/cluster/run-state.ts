import * as v from 'valibot';
import { runPaths } from '../config/paths.ts';
import { parseAs } from '../core/parse-as.ts';
import { appendToRun, type SupervisedRun } from '../fleet/supervised-run.ts';
import type { EventOf } from '../journal/events.ts';
import { type RunRead, readRun, readRunLines } from '../journal/runs.ts';
import { readText, setAside, writeAtomic } from '../os/files/files.ts';

// A run of `ralph run` that moves to another machine: its last decision goes along, so that what counts over iterations
// (failures, turns without progress, feedback, tool calls, cost) goes on there instead of beginning anew.

const runStateSchema = v.object({
  /** Lines of its journal: how it started, and its last decision. */
  lines: v.array(v.string()),
  /** The protected files as they were when the run began. */
  files: v.nullable(v.string()),
});

/** The store is no place for more than that. */
const maxChars = 512 * 1024;

/** A run as the next machine needs it; null where there is nothing to go on with. The prompt is in the order already. */
export function packRun({ cwd, id }: SupervisedRun, { started, decided }: RunRead): string | null {
  if (started === undefined || decided === undefined) return null;
  const lines = [{ ...started, task: '', cli: [] }, decided].map((event) => JSON.stringify(event));
  const text = JSON.stringify({ lines, files: readText(runPaths(cwd, id).protected) } satisfies v.InferOutput<
    typeof runStateSchema
  >);
  return text.length > maxChars ? null : text;
}

/** Puts a run in its place here, as it stood before this iteration, and returns it: another machine may have gone on with it. */
export function unpackRun(
  run: SupervisedRun,
  text: string,
  iteration: number,
  here: { readonly promptFile: string; readonly task: string },
): RunRead {
  const { cwd, id } = run;
  const paths = runPaths(cwd, id);
  let local = readRun(cwd, id);
  if (isAhead(local.decided, iteration)) {
    setAside(paths.root);
    local = readRunLines(id, []);
  }
  const content = parseAs(runStateSchema, text);
  const { started, decided } = readRunLines(id, content?.lines ?? []);
  if (content === null || started === undefined || decided === undefined) return local;
  const ran = local.events.findLast((event) => event.type === 'decision' && event.outcome !== 'INTERRUPTED');
  if (ran?.type === 'decision' && ran.iteration >= decided.iteration) return local;
  if (local.started === undefined) {
    appendToRun(run, [{ ...bodyOf(started), cwd, ...here }], Date.parse(started.at));
    if (content.files !== null) writeAtomic(paths.protected, content.files, { root: cwd });
  }
  const yielded = { type: 'run.yielded', iteration: decided.iteration } as const;
  appendToRun(run, [bodyOf(decided), yielded], Date.parse(decided.at));
  return readRun(cwd, id);
}

/** Whether the run has decided more than was ever booked: its work was not pushed, and the iteration is run again. */
function isAhead(decided: EventOf<'decision'> | undefined, iteration: number): boolean {
  if (decided === undefined || decided.outcome === 'INTERRUPTED') return false;
  return decided.loop.iteration + (decided.kind === 'stop' ? 1 : 0) > iteration;
}

function bodyOf<T extends { v: unknown; seq: unknown; at: unknown }>(event: T): Omit<T, 'v' | 'seq' | 'at'> {
  const { v: _v, seq: _seq, at: _at, ...body } = event;
  return body;
}
