import { quoteWord } from '../../core/words.ts';
import { nextCommand as nextOfLoop } from '../../fleet/why.ts';
import type { RunView } from '../../journal/run-view.ts';
import type { LoopSource } from './sources.ts';
import { isLive, type Status } from './summary.ts';

/** Returns the next command for the user; null while the loop goes on, or if none can be named. */
export function nextCommand(view: RunView, source: LoopSource, status: Status): string | null {
  if (isLive(status) && status !== 'needs-you') return null;
  if (source.worker !== null) return nextOfWorker(source, status);
  if (source.kind === 'session') return `ralph show ${view.run}`;
  return nextOfRun(view, source);
}

function nextOfRun({ run, outcome, limits, stories }: RunView, { question, isLatest }: LoopSource): string {
  // A run of a PRD is never resumed: the next one goes on where the list of stories stands.
  const isPrd = stories.length > 0;
  const goOn = isPrd ? 'ralph prd run' : isLatest ? 'ralph run --resume' : `ralph run --resume ${run}`;
  if (question === 'open') return `ralph answer "…" && ${goOn}`;
  if (outcome === 'PROMISE_ACCEPTED') return isPrd && isLatest ? 'ralph prd archive' : `ralph verdict ${run}`;
  if (outcome === 'MAX_ITERATIONS_REACHED' && !isPrd) return `${goOn} -m ${(limits?.iterations ?? 5) * 2}`;
  return goOn;
}

function nextOfWorker({ name, folder, worker }: LoopSource, status: Status): string {
  const loop = worker?.loop ?? null;
  if (loop === null) return `swarm logs ${name}`;
  const isAsked = status === 'needs-you' && loop.options.run !== undefined;
  if (isAsked) return `(cd ${quoted(folder)} && ralph answer "…") && swarm ralph resume ${name}`;
  return nextOfLoop(name, loop.why) ?? `swarm logs ${name}`;
}

/** As a word of a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : quoteWord(path);
}
