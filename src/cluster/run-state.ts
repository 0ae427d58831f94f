import * as v from 'valibot';
import { runPaths } from '../config/paths.ts';
import { parseAs } from '../core/parse-as.ts';
import { appendToRun, type SupervisedRun } from '../fleet/supervised-run.ts';
import type { EventOf } from '../journal/events.ts';
import { type RunRead, readRun, readRunLines } from '../journal/runs.ts';
import { readText, setAside, writeAtomic } from '../os/files/files.ts';

// State of a run that moves to another machine: its last decision, so that the counts over iterations (failures, turns
// without progress, tool calls, cost) go on there.

const runStateSchema = v.object({
  /** Two lines of its journal: the start and the last decision. */
  lines: v.array(v.string()),
  /** The protected files as they were when the run began. */
  files: v.nullable(v.string()),
});

/** Longest run state that is stored. */
const maxChars = 512 * 1024;

/** Serializes a run without its prompt, which is in the order. Null if it has no decision yet. */
export function packRun({ cwd, id }: SupervisedRun, { started, decided }: RunRead): string | null {
  if (started === undefined || decided === undefined) return null;
  const lines = [{ ...started, task: '', cli: [] }, decided].map((event) => JSON.stringify(event));
  const text = JSON.stringify({ lines, files: readText(runPaths(cwd, id).protected) } satisfies v.InferOutput<
    typeof runStateSchema
  >);
  return text.length > maxChars ? null : text;
}

/** Writes a run from another machine to this one, as it was before this iteration, and returns it. */
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

/** True if the run here decided on an iteration that was never booked: its work was not pushed, and it runs again. */
function isAhead(decided: EventOf<'decision'> | undefined, iteration: number): boolean {
  if (decided === undefined || decided.outcome === 'INTERRUPTED') return false;
  return decided.loop.iteration + (decided.kind === 'stop' ? 1 : 0) > iteration;
}

function bodyOf<T extends { v: unknown; seq: unknown; at: unknown }>(event: T): Omit<T, 'v' | 'seq' | 'at'> {
  const { v: _v, seq: _seq, at: _at, ...body } = event;
  return body;
}
