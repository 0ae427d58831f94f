import { isAbsolute, resolve } from 'node:path';
import { GuardError } from './error.ts';
import type { Environment, GuardContext } from './model.ts';
import { onDemand } from './on-demand.ts';
import { isInside } from './paths.ts';
import type { GuardPolicy } from './policy-schema.ts';
import { findUp, realPath } from './real-path.ts';
import { readRules } from './rules-file.ts';

export const policySchema = onDemand(() => import('./policy-schema.ts'));

export function loadGuardContext(
  folder: string,
  env: Environment,
  unattended: boolean,
  allowRules = true,
): GuardContext {
  const cwd = resolve(folder);
  const home = homeOf(env);
  const projectRoot = findProject(cwd, home, env);
  const policy = loadPolicy(projectRoot);
  return {
    cwd,
    home,
    projectRoot,
    unattended,
    env,
    realPath: realPathKeeping([projectRoot, home]),
    ...(policy ? { policy: allowRules ? policy : { ...policy, allow: [] } } : {}),
  };
}

export function projectOf(cwd: string, env: Environment): string {
  return findProject(resolve(cwd), homeOf(env), env);
}

function homeOf(env: Environment): string {
  return env.HOME || process.getBuiltinModule('node:os').homedir();
}

/**
 * The working copy around the folder where the session was started, if this one is inside: a working copy within the
 * project, where the agent went, is no project of its own. A home that is itself a repository is no project.
 */
function findProject(cwd: string, home: string, env: Environment): string {
  const sessionFolder = startFolders(env).find((folder) => isInside(cwd, folder) && !isInside(home, folder));
  const start = sessionFolder ?? cwd;
  const root = findUp(start, ['.git', '.ralph']);
  return root === null || isInside(home, root) ? start : root;
}

/** Returns the folders where the session started, as hosts say; the agent may have changed folders since. */
function startFolders({ CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR }: Environment): string[] {
  const folders = [CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR];
  return folders.flatMap((folder) => (folder !== undefined && isAbsolute(folder) ? [resolve(folder)] : []));
}

/** Resolves links of a path, but keeps the user's own names of folders: /tmp may itself be a link. */
function realPathKeeping(roots: readonly string[]): (path: string) => string {
  const realRoots = roots.map((root) => [root, realPath(root)] as const);
  return (path) => {
    const full = realPath(path);
    const [root, realRoot] = realRoots.find(([, folder]) => isInside(full, folder)) ?? [];
    return root === undefined || realRoot === undefined ? full : root + full.slice(realRoot.length);
  };
}

/** The rules of the project, `.ralph/guard.json`. A file that cannot be understood is an error, never no rules. */
function loadPolicy(projectRoot: string): GuardPolicy | null {
  const rules = readRules(projectRoot);
  if (rules === null) return null;
  const result =
    'value' in rules ? policySchema.module.readPolicy(rules.value) : { problems: [rules.problem] };
  if ('policy' in result) return result.policy;
  const message = `.ralph/guard.json: ${result.problems.join('; ')}`;
  throw new GuardError('guard-policy', message, 'guard explain "ls", after the file is mended');
}
