import { resolve } from 'node:path';
import { createRedactor } from '../safety/redact.ts';
import { type FleetEvent, readFleetEvents } from '../store/fleet-events.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { loopPaths } from '../store/fleet-paths.ts';
import type { Worker } from '../store/fleet-workers.ts';
import { readPrompt } from '../store/read-log.ts';
import type { Environment } from '../system/program.ts';
import type { IterationPicture, Mark, Picture } from '../view/picture.ts';
import { newIteration, newPicture } from '../view/picture-new.ts';
import type { LoopSource } from './sources.ts';

type Shown = NonNullable<LoopSource['worker']>;

/** The picture of a worker whose loop only drives a terminal: its timeline is all that is known. */
export function workerPicture(env: Environment, { worker, loop, told }: Shown): Picture {
  const picture = newPicture(worker.name);
  picture.told = 'timeline';
  picture.cwd = worker.cwd;
  picture.agent = worker.cmd[0] ?? null;
  picture.command = createRedactor({ ...env, ...worker.env }).text(worker.cmd.join(' '));
  picture.task = (told?.prompt ?? promptOf(worker, loop)) || picture.command;
  picture.startedAt = loop?.startedAt ?? (Date.parse(worker.started) || null);
  picture.updatedAt = loop?.why.since ?? picture.startedAt;
  const of = loop?.settings.max_iterations ?? null;
  const events = told?.events ?? readFleetEvents(loopPaths(env, worker.name).events);
  for (const event of events) add(picture, event, of);
  picture.elapsedMs = Math.max(0, (picture.updatedAt ?? 0) - (picture.startedAt ?? 0));
  return picture;
}

function promptOf(worker: Worker, loop: LoopRecord | null): string {
  return (loop && readPrompt(resolve(worker.cwd, loop.settings.prompt_file))) ?? '';
}

function add(picture: Picture, event: FleetEvent, of: number | null): void {
  picture.seq++;
  picture.updatedAt = Math.max(picture.updatedAt ?? 0, event.at);
  const last = picture.iterations.at(-1);
  if (event.type === 'iteration.started') {
    if (last) end(last, event.at, 'cut', picture.seq);
    const place = { index: picture.iterations.length, iteration: event.iteration ?? 0, of, at: event.at };
    const one = { ...newIteration(place, picture.seq), agentStartedAt: event.at, toolCalls: null };
    picture.iterations.push(one);
    return;
  }
  if (last) endBy(last, event, picture.seq);
  picture.notices.push({ at: event.at, text: event.text });
  if (picture.notices.length > 50) picture.notices.shift();
}

/** Which events are the end of the iteration that runs, and how it came out then. */
function endBy(one: IterationPicture, { type, at, exitCode = null, outcome }: FleetEvent, seq: number): void {
  if (type === 'iteration.ended') {
    one.exitCode = exitCode;
    end(one, at, exitCode === null || exitCode === 0 ? 'went-on' : 'failed', seq);
  }
  // An agent that falls silent has finished its turn.
  if (type === 'inactive') end(one, at, 'went-on', seq);
  if (type === 'window-lost') end(one, at, 'failed', seq);
  if (type === 'limit') end(one, at, 'limited', seq);
  if (type === 'stopped') end(one, at, 'stopped', seq);
  if (outcome !== 'PROMISE_ACCEPTED') return;
  end(one, at, 'accepted', seq);
  Object.assign(one, { mark: 'accepted', seq });
}

function end(one: IterationPicture, at: number, mark: Mark, seq: number): void {
  if (one.endedAt !== null) return;
  Object.assign(one, { endedAt: at, agentMs: at - one.startedAt, mark, seq });
}
