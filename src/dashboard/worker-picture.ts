import { resolve } from 'node:path';
import { type FleetEvent, readFleetEvents } from '../store/fleet-events.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import type { Worker } from '../store/fleet-workers.ts';
import { readPrompt } from '../store/read-log.ts';
import type { IterationPicture, Mark, Picture } from '../view/picture.ts';
import { newIteration, newPicture } from '../view/picture-new.ts';

const needsPerson = new Set(['permission', 'answer', 'blocked']);
const needsLook = new Set(['logged-out', 'failed', 'window-lost', 'limit']);

/** The picture of a worker whose loop only drives a terminal: its timeline is all that is known. */
export function workerPicture(worker: Worker, loop: LoopRecord | null, timeline: string): Picture {
  const picture = newPicture(worker.name);
  picture.cwd = worker.cwd;
  picture.agent = worker.cmd[0] ?? null;
  picture.command = worker.cmd.join(' ');
  picture.task = (loop && readPrompt(resolve(worker.cwd, loop.settings.prompt_file))) || picture.command;
  picture.startedAt = loop?.startedAt ?? (Date.parse(worker.started) || null);
  picture.updatedAt = loop?.why.since ?? picture.startedAt;
  for (const event of readFleetEvents(timeline)) add(picture, event, loop?.settings.max_iterations ?? null);
  if (loop !== null) settle(picture, loop);
  picture.elapsedMs = Math.max(0, (picture.updatedAt ?? 0) - (picture.startedAt ?? 0));
  return picture;
}

function add(picture: Picture, event: FleetEvent, of: number | null): void {
  picture.seq++;
  picture.updatedAt = Math.max(picture.updatedAt ?? 0, event.at);
  const one = picture.iterations.at(-1);
  if (event.type === 'iteration.started') {
    if (one) end(one, event.at, 'cut', picture.seq);
    const place = { index: picture.iterations.length, iteration: event.iteration ?? 0, of, at: event.at };
    picture.iterations.push({ ...newIteration(place, picture.seq), agentStartedAt: event.at });
    return;
  }
  if (event.type === 'iteration.ended' && one) {
    one.exitCode = event.exitCode ?? null;
    end(one, event.at, (event.exitCode ?? 0) === 0 ? 'went-on' : 'failed', picture.seq);
  }
  if (event.type === 'done' && one) one.mark = 'accepted';
  if (event.type === 'limit' && one) one.mark = 'limited';
  picture.notices.push({ at: event.at, text: event.text });
  if (picture.notices.length > 50) picture.notices.shift();
}

function end(one: IterationPicture, at: number, mark: Mark, seq: number): void {
  if (one.endedAt !== null) return;
  Object.assign(one, { endedAt: at, agentMs: at - one.startedAt, mark, seq });
}

function settle(picture: Picture, { status, why }: LoopRecord): void {
  const text = why.detail ?? why.state;
  if (needsPerson.has(why.state)) picture.needs = { kind: 'answer', text };
  else if (needsLook.has(why.state)) picture.needs = { kind: 'look', text };
  if (why.state === 'done') {
    picture.outcome = 'PROMISE_ACCEPTED';
    picture.because = 'the done pattern was found';
  } else if (status === 'stopped') {
    picture.outcome = 'CANCELLED';
    picture.because = text;
  }
  if (status === 'stopped' || status === 'failed') {
    picture.state = 'ended';
    picture.endedAt = why.since;
  }
  if (why.state === 'backoff' || why.state === 'limit' || why.state === 'queued') {
    picture.state = 'waiting';
    picture.waitFor = text;
    picture.waitUntil = why.until ?? null;
  }
}
