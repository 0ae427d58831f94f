import { join } from 'node:path';
import { projectOf } from 'ralphkit-guard/project';
import { lstatOf } from '../../../os/files/files.ts';
import type { Environment } from '../../../os/process/program.ts';

const guardFile = '.ralph/guard.json';

/** True if the guard rules of a folder's project are the user's own, so that they may allow something. */
export async function ownsRules(cwd: string, env: Environment): Promise<boolean> {
  return isOwnFile(projectOf(cwd, env), guardFile, env);
}

/** True if no stranger brought a file of a project. Loads the rules of trust only if the file is there. */
export async function isOwnFile(project: string, file: string, env: Environment): Promise<boolean> {
  if (lstatOf(join(project, file)) === undefined) return false;
  const { examineTrust } = await import('../../../config/trust/trust.ts');
  try {
    const { strangers } = await examineTrust(project, env);
    return !strangers.some((stranger) => stranger.file === file);
  } catch {
    // A settings file that is wrong: other commands report it.
    return false;
  }
}
