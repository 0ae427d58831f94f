import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { configFolder } from '../../store/paths.ts';
import { hasSessionLoop } from '../../store/session-loops.ts';
import { readJson } from '../../system/files.ts';
import { findUp } from '../../system/real-path.ts';
import type { Environment } from './model.ts';
import { startFolders } from './start-folders.ts';

const projectFile = '.ralph/settings.json';
const localFile = '.ralph/settings.local.json';

/** When the guard has a say: in unattended work, in every session, or never. */
export type GuardSetting = 'auto' | 'always' | 'off';

/** Where a tool is about to be called. */
export type CallPlace = { readonly env: Environment; readonly cwd: string; readonly sessionId: string };

/** Whether the guard has a say here, and whether somebody is there to see a warning; null where it has none. */
export function guardDuty({ env, cwd, sessionId }: CallPlace): { readonly unattended: boolean } | null {
  const setting = guardSetting(env, cwd);
  if (setting === 'off') return null;
  const unattended = Boolean(env.RALPH_RUN_ID) || (sessionId !== '' && hasSessionLoop(env, sessionId));
  return unattended || setting === 'always' ? { unattended } : null;
}

/**
 * The environment, then the files of the project where the session was started and of the user. What is wrong in them is
 * for other commands to tell. A folder where the agent went has no say.
 */
function guardSetting(env: Environment, cwd: string): GuardSetting {
  const given = known(env.RALPH_GUARD);
  if (given !== null) return given;
  const [start = cwd] = startFolders(env);
  const project = findUp(start, ['.ralph']);
  const ofProject = project === null ? [] : [join(project, localFile), join(project, projectFile)];
  for (const path of [...ofProject, join(configFolder(env), 'settings.json')]) {
    const setting = settingIn(path);
    if (setting !== null) return setting;
  }
  return 'auto';
}

function settingIn(path: string): GuardSetting | null {
  const read = readJson(path);
  return read.ok && isObject(read.value) ? known(read.value.guard) : null;
}

function known(value: unknown): GuardSetting | null {
  return value === 'auto' || value === 'always' || value === 'off' ? value : null;
}
