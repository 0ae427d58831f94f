import { nextCommand as nextOfLoop } from '../../fleet/why.ts';
import { nextCommand as nextOfRun, shellWord } from '../../journal/next-command.ts';
import type { RunView } from '../../journal/run-view.ts';
import type { LoopSource } from './sources.ts';
import { isLive, type Status } from './summary.ts';

/** Returns the next command for the user; null while the loop goes on, or if none can be named. */
export function nextCommand(view: RunView, source: LoopSource, status: Status): string | null {
  if (isLive(status) && status !== 'needs-you') return null;
  if (source.worker !== null) return nextOfWorker(source, status);
  if (source.kind === 'session') return `ralph show ${view.run}`;
  return nextOfRun(view, { asks: source.question === 'open', isLatest: source.isLatest });
}

function nextOfWorker({ name, folder, worker }: LoopSource, status: Status): string {
  const loop = worker?.loop ?? null;
  if (loop === null) return `swarm logs ${name}`;
  const isAsked = status === 'needs-you' && loop.options.run !== undefined;
  if (isAsked) return `(cd ${shellWord(folder)} && ralph answer "...") && swarm ralph resume ${name}`;
  return nextOfLoop(name, loop.why) ?? `swarm logs ${name}`;
}
