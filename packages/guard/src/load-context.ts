import { resolve } from 'node:path';
import type { Environment, GuardContext } from './model.ts';
import { isInside } from './paths.ts';
import { homeOf, projectOf } from './project.ts';
import { realPath } from './real-path.ts';
import { loadPolicy } from './rules-file.ts';

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
