import { resolve } from 'node:path';
import { GuardError } from './error.ts';
import type { Environment, GuardContext } from './model.ts';
import { onDemand } from './on-demand.ts';
import { isInside } from './paths.ts';
import type { GuardPolicy } from './policy-schema.ts';
import { homeOf, projectOf } from './project.ts';
import { realPath } from './real-path.ts';
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
  const projectRoot = projectOf(cwd, env);
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
