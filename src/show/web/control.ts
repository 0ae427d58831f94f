import { keepAnswer } from '../../drive/human.ts';
import { postNote, postPause, postStop } from '../../drive/mailbox.ts';
import { controlLoop } from '../../drive/session/control.ts';
import type { SessionContext } from '../../drive/session/hook-reply.ts';
import { listSessionLoops } from '../../drive/session/session-loops.ts';
import { pauseLoop, pauseWorkerOf, resumeLoop, resumeWorkerOf } from '../../fleet/control.ts';
import { endWorker } from '../../fleet/end-worker.ts';
import { needsYou } from '../../fleet/files/loops.ts';
import { logPaths } from '../../fleet/files/paths.ts';
import { findWorker, type Worker } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { lookAtWorker } from '../../fleet/live.ts';
import type { SelfCommand } from '../../fleet/supervisor-start.ts';
import { typeText } from '../../fleet/worker-window.ts';
import { readChunks, tryFile } from '../../os/files/open-file.ts';
import type { Environment } from '../../os/process/program.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import type { Action } from './actions.ts';
import type { LoopSource } from './sources.ts';

type Told = { readonly ok: boolean; readonly told: string };

/** Says what was done, or why it was not. */
export type Actions = (source: LoopSource, action: Action) => Promise<Told>;

export type ControlOptions = {
  readonly env: Environment;
  readonly now: () => number;
  readonly version: string;
  /** How `swarm` is started, for a fleet that has no supervisor. */
  readonly swarm: SelfCommand;
};

/** The same as the commands do, each in its own words. */
export function createActions(options: ControlOptions): Actions {
  return async (source, action) => {
    if (source.worker !== null) return onWorker(options, source, action);
    return source.kind === 'session' ? onSession(options, source, action) : onRun(options, source, action);
  };
}

async function onRun({ env, now, swarm }: ControlOptions, source: LoopSource, action: Action): Promise<Told> {
  const { run, folder, life, question } = source;
  if (action.action === 'answer') {
    if (question === 'answered') return no('you have answered it: resume it');
    if (question !== 'open') return no('it asks nothing');
    keepAnswer(env, folder, action.text);
    return yes('the next run starts with your answer');
  }
  if (run === null || life === 'dead') return no('this loop is over: ralph run --resume goes on with it');
  switch (action.action) {
    case 'pause':
      if ((await pauseWorkerOf(env, run, now())) === null) postPause(env, run, true);
      return yes('it waits after this iteration');
    case 'resume':
      if ((await resumeWorkerOf(env, run, now(), swarm)) === null) postPause(env, run, false);
      return yes('it goes on');
    case 'stop':
      postStop(env, run, 'iteration');
      return yes('it stops after this iteration');
    case 'note':
      postNote(env, run, action.text, now());
      return yes('it reads this in its next prompt');
  }
}

/** A session can only be resumed from its own prompt, never from outside. */
function onSession({ env, now, version }: ControlOptions, { run }: LoopSource, { action }: Action): Told {
  const state = listSessionLoops(env).find((loop) => loop.run === run);
  if (state === undefined) return no('this loop is over');
  const control = { pause: 'ralph-pause', stop: 'cancel-ralph' } as const;
  if (action !== 'pause' && action !== 'stop') return no('type that into the session itself');
  const context: SessionContext = { env, now, driver: state.driver, version };
  const reply = controlLoop(
    { control: control[action], sessionId: state.sessionId, promptId: null },
    context,
  );
  return yes(reply.kind === 'answer' ? reply.message : 'done');
}

async function onWorker(options: ControlOptions, source: LoopSource, action: Action): Promise<Told> {
  const { env, now } = options;
  const { name } = source;
  const worker = findWorker(env, name);
  if (worker === null) return no(`there is no worker ${name} any more`);
  if (source.life === 'dead') return no('it is over');
  switch (action.action) {
    case 'pause':
      return (await pauseLoop(env, name, now())).changed
        ? yes('it waits after this iteration')
        : no(source.worker?.loop ? 'it does not run' : 'only a loop can be paused');
    case 'resume':
      return (await resume(options, name)) ? yes('it goes on') : no('it is not paused');
    case 'stop':
      await holdWorker(env, name, () => endWorker(env, worker, now()));
      return yes('it is stopped');
    default:
      return source.worker?.loop?.options.run === undefined
        ? type(env, worker, action)
        : tell(options, source, action);
  }
}

async function resume({ env, now, swarm }: ControlOptions, name: string): Promise<boolean> {
  return (await resumeLoop(env, name, now(), swarm)).changed;
}

type Words = Extract<Action, { readonly text: string }>;

/** A worker with the checks of `ralph run` takes word as that does. */
async function tell(options: ControlOptions, source: LoopSource, { action, text }: Words): Promise<Told> {
  const { env, now } = options;
  const { run, folder, name } = source;
  if (action === 'note') {
    if (run === null) return no('its first iteration has not begun');
    postNote(env, run, text, now());
    return yes('it reads this in its next prompt');
  }
  const why = source.worker?.loop?.why.state;
  if (why === undefined || !needsYou(why)) return no('it asks nothing');
  keepAnswer(env, folder, text);
  await resume(options, name);
  return yes('it goes on with your answer');
}

/** Any other one has only its terminal. */
async function type(env: Environment, worker: Worker, { action, text }: Words): Promise<Told> {
  const { pane } = worker.tmux === null ? { pane: null } : await lookAtWorker(env, worker);
  if (worker.tmux === null || pane === null || pane.dead) return no('it has no window at the moment');
  const tmux = tmuxServer(worker.tmux.socket, env);
  await typeText(tmux, pane.id, cleanTerminal(text), { clear: action === 'note', enter: true });
  return yes('it was typed into its terminal');
}

/** Returns the screen of a worker with its colours; null if it has no window. */
export async function workerScreen(env: Environment, name: string): Promise<string | null> {
  const worker = findWorker(env, name);
  if (worker === null) return null;
  if (worker.tmux === null) return logOf(env, name);
  const { pane } = await lookAtWorker(env, worker);
  if (pane === null) return null;
  // Between the two looks its window may close.
  const lines = await tmuxServer(worker.tmux.socket, env)
    .capture(pane.id, 200, true)
    .catch(() => null);
  return lines?.join('\n') ?? null;
}

const maxLogBytes = 64 * 1024;

/** Returns the end of what a worker without a window printed; null if no log is kept. */
function logOf(env: Environment, name: string): string | null {
  const { stdout, stderr } = logPaths(env, name);
  const ends = [stdout, stderr].map((path) =>
    tryFile(path, (fd, { size }) =>
      Buffer.concat([...readChunks(fd, Math.max(0, size - maxLogBytes), size)]).toString('utf8'),
    ),
  );
  return ends.every((end) => end === null) ? null : ends.filter(Boolean).join('\n');
}

export function yes(told: string): Told {
  return { ok: true, told };
}

export function no(told: string): Told {
  return { ok: false, told };
}
