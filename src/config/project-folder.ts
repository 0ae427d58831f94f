import { findUp, isWithin, realPath } from '../os/files/real-path.ts';

/** Files and folders that make a folder a project of ours. */
const marks = ['.ralph/settings.json', '.ralph/settings.local.json', '.ralph/runs', 'ralph/tasks.json'];

/**
 * Returns the folder of our files for a command in `cwd`: the nearest one in the same working copy, as git finds its own.
 * Without any it is `cwd`. A home that is a repository is no project.
 */
export function projectFolder(cwd: string, env: NodeJS.ProcessEnv): string {
  const here = realPath(cwd);
  const folder = findUp(here, marks);
  const top = findUp(here, ['.git']);
  if (folder === null || folder === here || top === null || !isWithin(folder, top)) return cwd;
  return top === realPath(env.HOME ?? '') ? cwd : folder;
}
