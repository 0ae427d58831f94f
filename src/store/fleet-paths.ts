import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { hashText } from '../core/hash.ts';
import type { Environment } from '../system/program.ts';
import { realPath } from '../system/real-path.ts';

let last: ReturnType<typeof pathsBelow> | null = null;

/** Where the fleet keeps its things: `~/.swarm`, or where SWARM_HOME says. */
export function fleetPaths(env: Environment) {
  const moved = env.SWARM_HOME;
  const root = moved !== undefined && isAbsolute(moved) ? moved : join(env.HOME || homedir(), '.swarm');
  // The supervisor asks some thousand times in a second, and always for the same.
  if (last?.root !== root) last = pathsBelow(root);
  return last;
}

function pathsBelow(root: string) {
  return {
    root,
    /** All workers. */
    state: join(root, 'state.json'),
    lock: join(root, 'state.lock'),
    /** What workers without a window print. */
    logs: join(root, 'logs'),
    loops: join(root, 'ralph'),
    /** Marks that the workers themselves leave when they start and end. */
    marks: join(root, 'marks'),
    supervisorLock: join(root, 'supervisor.lock'),
    supervisorLog: join(root, 'supervisor.log'),
  };
}

/** Where things are of one loop. */
export function loopPaths(env: Environment, name: string) {
  const { loops, marks } = fleetPaths(env);
  const root = join(loops, name);
  return {
    root,
    /** Outside of the folder, which may be removed at any time. */
    lock: join(marks, `${name}.step`),
    /** For people: what they read, and where they may edit the settings of the loop. */
    state: join(root, 'state.json'),
    /** For us: the truth about the counters. */
    record: join(root, 'loop.json'),
    /** What it was asked to do, once more, for when that is damaged. */
    options: join(root, 'options.json'),
    log: join(root, 'iterations.log'),
    events: join(root, 'events.ndjson'),
    prompt: join(root, 'prompt.md'),
  };
}

/** What a worker leaves at its start and at its end; each holds the number of the start, the end also an exit code. */
export function markPaths(env: Environment, name: string) {
  const { marks } = fleetPaths(env);
  return {
    started: join(marks, `${name}.started`),
    ended: join(marks, `${name}.ended`),
    /** Left by a command that changed the loop, for the supervisor to see. */
    changed: join(marks, `${name}.changed`),
    /** The command itself, where it is too long to be given in a call. */
    words: join(marks, `${name}.words`),
    /** Held by a command while it makes or ends the worker. */
    lock: join(marks, `${name}.lock`),
  };
}

/** The outputs of a worker without a window. */
export function logPaths(env: Environment, name: string) {
  const { logs } = fleetPaths(env);
  return { stdout: join(logs, `${name}.stdout.log`), stderr: join(logs, `${name}.stderr.log`) };
}

const sessions = new Map<string, string>();

/** The tmux session of a fleet: two fleets on one machine do not share one. */
export function defaultSession(env: Environment): string {
  const { root } = fleetPaths(env);
  const known = sessions.get(root);
  if (known !== undefined) return known;
  const session = `swarm-${hashText(realPath(root)).slice(0, 8)}`;
  sessions.set(root, session);
  return session;
}

/** The run id that every process of a worker carries in its environment. */
export function workerRunId(env: Environment, name: string): string {
  return `${defaultSession(env)}/${name}`;
}
