import { resolve } from 'node:path';
import { type FleetEvent, readTimeline } from '../../fleet/files/events.ts';
import type { LoopRecord } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { workerEnvironment } from '../../fleet/files/signal-files.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { readPrompt } from '../../journal/read-log.ts';
import { IterationView, type Mark, RunView } from '../../journal/run-view.ts';
import type { Environment } from '../../os/process/program.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import type { LoopSource } from './sources.ts';

type Shown = NonNullable<LoopSource['worker']>;

/** The view of a worker whose loop only drives a terminal: its timeline is all that is known. */
export function workerView(env: Environment, { worker, loop, told }: Shown): RunView {
  const view = new RunView(worker.name);
  view.source = 'timeline';
  view.cwd = worker.cwd;
  view.agent = worker.cmd[0] ?? null;
  view.command = createRedactor(workerEnvironment(env, worker)).text(worker.cmd.join(' '));
  view.task = (told?.prompt ?? promptOf(worker, loop)) || view.command;
  view.startedAt = loop?.startedAt ?? (Date.parse(worker.started) || null);
  view.updatedAt = loop?.why.since ?? view.startedAt;
  const of = loop?.settings.max_iterations ?? null;
  const { events, damaged, unknown } = told?.timeline ?? readTimeline(loopPaths(env, worker.name).events);
  Object.assign(view, { damaged, unknown });
  for (const event of events) add(view, event, of);
  view.elapsedMs = Math.max(0, (view.updatedAt ?? 0) - (view.startedAt ?? 0));
  return view;
}

function promptOf(worker: Worker, loop: LoopRecord | null): string {
  return (loop && readPrompt(resolve(worker.cwd, loop.settings.prompt_file))) ?? '';
}

function add(view: RunView, event: FleetEvent, of: number | null): void {
  view.seq++;
  view.updatedAt = Math.max(view.updatedAt ?? 0, event.at);
  const last = view.iterations.at(-1);
  if (event.type === 'iteration.started') {
    if (last) end(last, event.at, 'cut', view.seq);
    const { iteration = 0, at: startedAt } = event;
    const { seq, iterations } = view;
    const one = new IterationView({ index: iterations.length, iteration, of, seq, startedAt });
    view.iteration = iteration;
    iterations.push(Object.assign(one, { agentStartedAt: startedAt, toolCalls: null }));
    return;
  }
  if (last) endBy(last, event, view.seq);
  view.notices.push({ at: event.at, text: event.text });
  if (view.notices.length > 50) view.notices.shift();
}

/** Which events are the end of the iteration that runs, and how it came out then. */
function endBy(one: IterationView, { type, at, exitCode = null, outcome }: FleetEvent, seq: number): void {
  if (type === 'iteration.ended') {
    one.exitCode = exitCode;
    end(one, at, exitCode === null || exitCode === 0 ? 'went-on' : 'failed', seq);
  }
  // An agent that falls silent has finished its turn.
  if (type === 'inactive') end(one, at, 'went-on', seq);
  if (type === 'window-lost') end(one, at, 'failed', seq);
  if (type === 'limit') end(one, at, 'usage-limit', seq);
  if (type === 'stopped') end(one, at, 'stopped', seq);
  if (outcome !== 'PROMISE_ACCEPTED') return;
  end(one, at, 'accepted', seq);
  Object.assign(one, { mark: 'accepted', seq });
}

function end(one: IterationView, at: number, mark: Mark, seq: number): void {
  if (one.endedAt !== null) return;
  Object.assign(one, { endedAt: at, agentMs: at - one.startedAt, mark, seq });
}
