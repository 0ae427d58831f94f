import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { hashText } from '../../core/hash.ts';
import { realPath } from '../../os/files/real-path.ts';
import type { Environment } from '../../os/process/program.ts';

/** True if a text can name a worker: it is a file name, a window and a word on a command line. */
export function isWorkerName(name: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(name) && Buffer.byteLength(name) <= 100;
}

let last: ReturnType<typeof pathsBelow> | null = null;

/** Returns the paths of the fleet below SWARM_HOME or `~/.swarm`. */
export function fleetPaths(env: Environment) {
  const home = env.SWARM_HOME;
  const root = home !== undefined && isAbsolute(home) ? home : join(env.HOME || homedir(), '.swarm');
  // Cached: the supervisor asks some thousand times in a second.
  if (last?.root !== root) last = pathsBelow(root);
  return last;
}

function pathsBelow(root: string) {
  return {
    root,
    /** Its tmux session: two fleets on one machine do not share one. */
    session: `swarm-${hashText(realPath(root)).slice(0, 8)}`,
    state: join(root, 'state.json'),
    lock: join(root, 'state.lock'),
    /** Output of workers without a window. */
    logs: join(root, 'logs'),
    loops: join(root, 'ralph'),
    /** Small files by which workers and commands tell the supervisor of a start, an end or a change. */
    signals: join(root, 'marks'),
    supervisorLock: join(root, 'supervisor.lock'),
    supervisorLog: join(root, 'supervisor.log'),
  };
}

export function loopPaths(env: Environment, name: string) {
  const { loops, signals } = fleetPaths(env);
  const root = join(loops, name);
  return {
    root,
    /** Outside the folder, which may be removed at any time. */
    lock: join(signals, `${name}.step`),
    /** File that people read, and in which they may edit the settings of the loop. */
    state: join(root, 'state.json'),
    record: join(root, 'loop.json'),
    log: join(root, 'iterations.log'),
    events: join(root, 'events.ndjson'),
    prompt: join(root, 'prompt.md'),
  };
}

/** Signal files of a worker. `started` and `ended` hold the number of the start, `ended` also the exit code. */
export function signalPaths(env: Environment, name: string) {
  const { signals } = fleetPaths(env);
  return {
    started: join(signals, `${name}.started`),
    ended: join(signals, `${name}.ended`),
    /** Written by a command that changed the loop, for the supervisor. */
    changed: join(signals, `${name}.changed`),
    /** Command and environment of the last start; only its owner can read it. */
    start: join(signals, `${name}.start`),
    /** Environment of the spawn; only its owner can read it. */
    environment: join(signals, `${name}.environment`),
    /** Held by a command while it makes or ends the worker. */
    lock: join(signals, `${name}.lock`),
  };
}

export function logPaths(env: Environment, name: string) {
  const { logs } = fleetPaths(env);
  return { stdout: join(logs, `${name}.stdout.log`), stderr: join(logs, `${name}.stderr.log`) };
}

/** Returns the run id in the environment of every process of a worker. */
export function workerRunId(env: Environment, name: string): string {
  return `${fleetPaths(env).session}/${name}`;
}
