import { isAbsolute, join } from 'node:path';
import { sha256 } from '../os/crypto.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where things are in a working copy. */
export function projectPaths(cwd: string) {
  const root = join(cwd, '.ralph');
  return {
    root,
    runs: join(root, 'runs'),
    lock: join(root, 'lock'),
    gitignore: join(root, '.gitignore'),
  };
}

/** Where things are of one run. */
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

/** The name of a guardrail log, relative to the working copy; the second of the same slug gets a number. */
export function guardrailLog(iteration: number, slug: string, nth = 1): string {
  return `.ralph/guardrail_${iteration}_${slug}${nth === 1 ? '' : `_${nth}`}.log`;
}

/** Where the answer for the next run in a folder is kept: outside the working copy, where agents work. */
export function answerPath(env: Environment, cwd: string): string {
  return join(answersFolder(env), `${sha256(cwd).slice(0, 16)}.txt`);
}

/** Where the answers for all folders are. */
export function answersFolder(env: Environment): string {
  return join(stateFolder(env), 'answers');
}

/** Where others leave word for a running loop: outside the working copy, where its agent works. */
export function mailboxPath(env: Environment, run: string): string {
  return join(stateFolder(env), 'mail', run);
}

/** What is kept of a sandbox between runs; with no name, of all of them. */
export function sandboxFolder(env: Environment, name = ''): string {
  return join(stateFolder(env), 'sandboxes', name);
}

/** Folders outside the working copy. The XDG specification wants relative paths ignored. */
export function stateFolder(env: Environment): string {
  return xdgFolder(env, 'XDG_STATE_HOME', join('.local', 'state'));
}

/**
 * Where Node keeps what V8 compiled, and not in its usual place below /tmp: whoever can write it can run code as us, and
 * the guard and the sandboxes keep agents out of the state folder.
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
  // Loaded only where it is needed: it takes a millisecond, and nearly everybody has a HOME.
  return join(env.HOME || process.getBuiltinModule('node:os').homedir(), otherwise, 'ralph');
}

function pad(iteration: number): string {
  return String(iteration).padStart(3, '0');
}
