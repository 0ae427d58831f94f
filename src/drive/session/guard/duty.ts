import { isAbsolute, join } from 'node:path';
import { projectOf } from 'ralphkit-guard/project';
import { configFolder } from '../../../config/paths.ts';
import { isObject } from '../../../core/json.ts';
import { readJson } from '../../../os/files/files.ts';
import { findUp } from '../../../os/files/real-path.ts';
import type { Environment } from '../../../os/process/program.ts';
import { hasSessionLoop } from '../session-paths.ts';

const projectFile = '.ralph/settings.json';
const localFile = '.ralph/settings.local.json';

/** When the guard judges calls: never, in unattended work, or in every session. */
const strictness = ['off', 'auto', 'always'] as const;
type GuardSetting = (typeof strictness)[number];

/** Session and folder of a tool call. */
export type CallPlace = { readonly env: Environment; readonly cwd: string; readonly sessionId: string };

/** Returns null if the guard is off here; otherwise whether a person can see its warnings. */
export async function guardDuty({ env, cwd, sessionId }: CallPlace) {
  const setting = await guardSetting(env, cwd);
  if (setting === 'off') return null;
  const unattended = Boolean(env.RALPH_RUN_ID) || (sessionId !== '' && hasSessionLoop(env, sessionId));
  return unattended || setting === 'always' ? { unattended } : null;
}

/**
 * Reads the environment, then the settings of the project where the session was started and of the user. Ignores errors
 * in them, which other commands report, and settings of folders that the agent went to. A file that a stranger brought
 * can only make the guard stricter.
 */
async function guardSetting(env: Environment, cwd: string): Promise<GuardSetting> {
  const fromEnv = settingOf(env.RALPH_GUARD);
  if (fromEnv !== null) return fromEnv;
  const own = settingIn(join(configFolder(env), 'settings.json')) ?? 'auto';
  const projectDirs = [env.CLAUDE_PROJECT_DIR, env.GEMINI_PROJECT_DIR];
  const start = projectDirs.find((folder) => folder !== undefined && isAbsolute(folder)) ?? cwd;
  const project = findUp(start, ['.ralph']);
  if (project === null) return own;
  for (const file of [localFile, projectFile]) {
    const setting = settingIn(join(project, file));
    if (setting === null) continue;
    const isStricter = strictness.indexOf(setting) >= strictness.indexOf(own);
    if (isStricter || (await isOwnFile(project, file, env))) return setting;
  }
  return own;
}

function settingIn(path: string): GuardSetting | null {
  const content = readJson(path);
  return content.ok && isObject(content.value) ? settingOf(content.value.guard) : null;
}

function settingOf(value: unknown): GuardSetting | null {
  return strictness.find((each) => each === value) ?? null;
}

/** True if the guard rules of a folder's project are the user's own, so that they may allow something. */
export async function ownsRules(cwd: string, env: Environment): Promise<boolean> {
  return isOwnFile(projectOf(cwd, env), '.ralph/guard.json', env);
}

/** True if no stranger brought a file of a project. */
async function isOwnFile(project: string, file: string, env: Environment): Promise<boolean> {
  const { examineTrust } = await import('../../../config/trust/trust.ts');
  try {
    const { strangers } = await examineTrust(project, env);
    return !strangers.some((stranger) => stranger.file === file);
  } catch {
    // A settings file that is wrong: other commands report it.
    return false;
  }
}
