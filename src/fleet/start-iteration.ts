import { isRalphError, messageOf } from '../core/error.ts';
import { readText, writeAtomic } from '../os/files/files.ts';
import { sweepRun } from '../os/process/process.ts';
import type { Environment } from '../os/process/program.ts';
import type { Tmux } from '../os/terminal/tmux.ts';
import { sessionWords } from './context.ts';
import { type Delivery, deliveryFor } from './delivery.ts';
import { endAtMax, endBy, endStep } from './end-loop.ts';
import { holdingLimits } from './files/limits.ts';
import { logLine } from './files/log.ts';
import { applyStep, isInIteration, type LoopRecord, type LoopStep, readLoop } from './files/loops.ts';
import { loopPaths, workerRunId } from './files/paths.ts';
import type { LoopWorker, Worker } from './files/workers.ts';
import { holdLoop } from './hold.ts';
import { type Obstacle, obstacleTo } from './limits.ts';
import { endRunOf, runCommand, runEnvironment, runOf } from './supervised-run.ts';
import { readOwner, windowFor } from './worker-window.ts';

export type Started =
  | { readonly kind: 'started'; readonly loop: LoopRecord }
  /** The loop is paused, ended, waiting or running already. */
  | { readonly kind: 'not-due'; readonly loop: LoopRecord | null }
  | { readonly kind: 'ended'; readonly loop: LoopRecord }
  /** The limits of the fleet keep it back: until then, or until another iteration ends. */
  | ({ readonly kind: 'kept-back'; readonly loop: LoopRecord } & Obstacle)
  /** The window did not open; the claimed iteration has to start again. */
  | { readonly kind: 'not-opened'; readonly loop: LoopRecord; readonly error: unknown };

/** Starts the next iteration of a loop, or the one that a crash kept from starting. At most one runs. */
export function startIteration(
  env: Environment,
  worker: LoopWorker,
  tmux: Tmux,
  now: () => number,
): Promise<Started> {
  return holdLoop(env, worker.name, () => start(env, worker, tmux, now));
}

async function start(env: Environment, worker: LoopWorker, tmux: Tmux, now: () => number): Promise<Started> {
  const { name } = worker;
  const loop = readLoop(env, name);
  if (loop === null || loop.status !== 'running') return { kind: 'not-due', loop };
  const isClaimed = isInIteration(loop);
  if (!isClaimed && loop.waitUntil !== null && loop.waitUntil > now()) return { kind: 'not-due', loop };
  const panes = (await tmux.panes()).map((pane) => ({ pane, owner: readOwner(env, pane.label) }));
  const mine = panes.find(({ owner }) => owner?.name === name);
  if (isClaimed && mine?.owner?.launch === loop.launch) return { kind: 'not-due', loop };

  // A person may have lowered the maximum.
  if (!isClaimed && loop.iteration >= loop.settings.max_iterations) {
    return end(env, worker, (newest) => endStep(newest, endAtMax(newest), now()));
  }
  const run = runOf(worker, loop);
  // A run reads the prompt file itself.
  const prompt = run === null ? readPrompt(loop.settings.prompt_file) : { text: '' };
  if ('problem' in prompt) {
    const because = { code: 'prompt-file', text: prompt.problem };
    return end(env, worker, (newest) =>
      endStep(newest, endBy({ outcome: 'LOOP_FAILED', because }, newest), now()),
    );
  }

  const paths = loopPaths(env, name);
  if (run === null) writeAtomic(paths.prompt, prompt.text, { fsync: false });
  const claimed = isClaimed ? loop : claimWithin(env, loop, now());
  if (claimed === null) return { kind: 'not-due', loop: null };
  if ('until' in claimed) return { kind: 'kept-back', loop, ...claimed };
  await sweepRun(workerRunId(env, name));
  const delivery: Delivery = run === null ? deliveryFor(worker.cmd, prompt.text) : { how: 'none' };
  const { iteration, launch } = claimed;
  const running =
    run === null
      ? { ...worker, cmd: [...worker.cmd, ...sessionWords(env, worker, claimed)] }
      : {
          ...worker,
          cmd: runCommand(run, worker.cmd, claimed),
          env: { ...worker.env, ...runEnvironment(worker.cmd) },
        };
  const spec = windowFor(env, running, { iteration, launch, delivery, prompt: paths.prompt });
  try {
    if (mine === undefined) await tmux.openWindow(spec);
    else await tmux.respawn(mine.pane.id, spec);
  } catch (error) {
    return { kind: 'not-opened', loop: claimed, error };
  }
  return { kind: 'started', loop: claimed };
}

/** Claims the next iteration if the limits of the fleet allow it. */
function claimWithin(env: Environment, loop: LoopRecord, now: number): LoopRecord | Obstacle | null {
  return holdingLimits(
    env,
    () => obstacleTo(env, loop, now) ?? applyStep(env, loop.name, (newest) => claim(newest, now)),
  );
}

/** Returns the line of the supervisor's log about a start. */
export function startedText({ name, iteration, settings }: LoopRecord): string {
  return `[ralph] ${name}: starting iteration ${iteration}/${settings.max_iterations}`;
}

/** Claims the next iteration. Written before the start, so that a crash never starts two. */
export function claim(loop: LoopRecord, at: number): LoopStep {
  const iteration = loop.iteration + 1;
  const of = `${iteration}/${loop.settings.max_iterations}`;
  return {
    change: {
      iteration,
      launch: Math.max(loop.launch + 1, at),
      iterationStartedAt: at,
      waitUntil: null,
      why: { state: 'starting', since: at },
    },
    lines: [logLine(at, 'START', `iteration ${of}`)],
    events: [{ at, type: 'iteration.started', text: `starting iteration ${of}`, iteration }],
  };
}

/** Reads the prompt file, which a person may edit or remove at any time. */
export function readPrompt(file: string): { readonly text: string } | { readonly problem: string } {
  try {
    const text = readText(file);
    return text === null ? { problem: `prompt file not found: ${file}` } : { text };
  } catch (error) {
    const tooLarge = isRalphError(error) && error.code === 'file-too-large';
    return { problem: tooLarge ? messageOf(error) : `cannot read prompt file: ${file}` };
  }
}

function end(env: Environment, worker: Worker, step: (loop: LoopRecord) => LoopStep): Started {
  const loop = applyStep(env, worker.name, step);
  endRunOf(worker, loop);
  return loop === null ? { kind: 'not-due', loop } : { kind: 'ended', loop };
}
