import { isAbsolute, join } from 'node:path';
import { sha256 } from '../os/crypto.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function projectPaths(cwd: string) {
  const root = join(cwd, '.ralph');
  return {
    root,
    runs: join(root, 'runs'),
    lock: join(root, 'lock'),
    gitignore: join(root, '.gitignore'),
  };
}

export function runPaths(cwd: string, run: string) {
  const root = join(projectPaths(cwd).runs, run);
  return {
    root,
    journal: join(root, 'journal.ndjson'),
    iterations: join(root, 'iterations'),
    stream: (iteration: number) => join(root, 'iterations', `${pad(iteration)}.ndjson`),
    prompt: (iteration: number) => join(root, 'iterations', `${pad(iteration)}.prompt.md`),
    verifyLog: (iteration: number, name: string) =>
      join(root, 'iterations', `${pad(iteration)}.verify_${name}.log`),
    /** Fingerprints of the protected files, as they were when the run began. */
    protected: join(root, 'protected.json'),
  };
}

/** Returns the path of a guardrail log, relative to the working copy; the second of the same slug gets a number. */
export function guardrailLog(iteration: number, slug: string, nth = 1): string {
  return `.ralph/guardrail_${iteration}_${slug}${nth === 1 ? '' : `_${nth}`}.log`;
}

/** Returns the file of the answer for the next run in a folder. It is outside the working copy, where agents work. */
export function answerPath(env: Environment, cwd: string): string {
  return join(answersFolder(env), `${sha256(cwd).slice(0, 16)}.txt`);
}

export function answersFolder(env: Environment): string {
  return join(stateFolder(env), 'answers');
}

/** Returns the mailbox of a running loop. It is outside the working copy, where its agent works. */
export function mailboxPath(env: Environment, run: string): string {
  return join(stateFolder(env), 'mail', run);
}

export function trustPath(env: Environment, folder: string): string {
  return join(stateFolder(env), 'trust', `${sha256(folder).slice(0, 16)}.json`);
}

/** Returns the folder of a sandbox, which lasts between runs; without a name, of all of them. */
export function sandboxFolder(env: Environment, name = ''): string {
  return join(stateFolder(env), 'sandboxes', name);
}

/** Returns our state folder. The XDG specification wants relative paths ignored. */
export function stateFolder(env: Environment): string {
  return xdgFolder(env, 'XDG_STATE_HOME', join('.local', 'state'));
}

/**
 * Returns the folder of Node's compile cache. Not its usual place below /tmp: who can write it can run code as us, and the
 * guard and the sandboxes keep agents out of the state folder.
 */
export function compileCacheFolder(env: Environment): string {
  return join(stateFolder(env), 'compile-cache');
}

export function cacheFolder(env: Environment): string {
  return xdgFolder(env, 'XDG_CACHE_HOME', '.cache');
}

export function configFolder(env: Environment): string {
  return xdgFolder(env, 'XDG_CONFIG_HOME', '.config');
}

function xdgFolder(env: Environment, variable: string, otherwise: string): string {
  const base = env[variable];
  if (base !== undefined && isAbsolute(base)) return join(base, 'ralph');
  // Loaded only here: it takes a millisecond, and nearly everybody has a HOME.
  return join(env.HOME || process.getBuiltinModule('node:os').homedir(), otherwise, 'ralph');
}

function pad(iteration: number): string {
  return String(iteration).padStart(3, '0');
}
