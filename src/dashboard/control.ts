import { pauseLoop, resumeLoop } from '../fleet/control.ts';
import { endWorker } from '../fleet/end-worker.ts';
import { holdWorker } from '../fleet/hold.ts';
import { lookAtWorker } from '../fleet/live.ts';
import { ensureSupervisor, type SelfCommand } from '../fleet/supervisor-start.ts';
import type { SessionContext } from '../session/context.ts';
import { controlLoop } from '../session/control.ts';
import { findWorker, updateWorker, type Worker } from '../store/fleet-workers.ts';
import { keepAnswer, openQuestion } from '../store/human.ts';
import { postNote, postPause, postStop } from '../store/mailbox.ts';
import { listSessionLoops } from '../store/session-loops.ts';
import type { Environment } from '../system/program.ts';
import { tmuxServer } from '../system/tmux.ts';
import type { Action, Actions } from './actions.ts';
import type { LoopSource } from './sources.ts';

type Told = { readonly ok: boolean; readonly told: string };

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
    if (source.worker !== null) return onWorker(options, source.worker.worker, action);
    return source.kind === 'session' ? onSession(options, source, action) : onRun(options, source, action);
  };
}

function onRun({ env, now }: ControlOptions, source: LoopSource, action: Action): Told {
  const { run, folder, life } = source;
  if (action.action === 'answer') {
    if (openQuestion(folder) === null) return no('nobody asks anything here');
    keepAnswer(env, folder, action.text);
    return yes('the next run starts with your answer: ralph run --resume');
  }
  if (run === null || life === 'dead') return no('this loop is over: ralph run --resume goes on with it');
  switch (action.action) {
    case 'pause':
      postPause(env, run, true);
      return yes('it waits after this iteration');
    case 'resume':
      postPause(env, run, false);
      return yes('it goes on');
    case 'stop':
      postStop(env, run, 'iteration');
      return yes('it stops after this iteration');
    case 'note':
      postNote(env, run, action.text, now());
      return yes('it reads this in its next prompt');
  }
}

/** What a session has to go on with, only its own prompt can give: there is no resume from outside. */
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

async function onWorker(
  { env, now, swarm }: ControlOptions,
  { name }: Worker,
  { action }: Action,
): Promise<Told> {
  const worker = findWorker(env, name);
  if (worker === null) return no(`there is no worker ${name} any more`);
  switch (action) {
    case 'pause':
      return pauseLoop(env, name, now()).changed
        ? yes('it waits after this iteration')
        : no('it does not run');
    case 'resume': {
      if (!resumeLoop(env, name, now()).changed) return no('it is not paused');
      updateWorker(env, name, { status: 'running' });
      await ensureSupervisor(env, swarm);
      return yes('it goes on');
    }
    case 'stop':
      await holdWorker(env, name, () => endWorker(env, worker, now()));
      return yes('it is stopped');
    default:
      return no(`write to its terminal: swarm attach ${name}`);
  }
}

/** What the window of a worker shows, with its colours; null where it has none. */
export async function workerScreen(env: Environment, name: string): Promise<string | null> {
  const worker = findWorker(env, name);
  if (!worker?.tmux) return null;
  const { pane } = await lookAtWorker(env, worker);
  if (pane === null) return null;
  return (await tmuxServer(worker.tmux.socket, env).capture(pane.id, 200, true)).join('\n');
}

function yes(told: string): Told {
  return { ok: true, told };
}

function no(told: string): Told {
  return { ok: false, told };
}
