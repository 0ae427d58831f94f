import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../system/program.ts';

/** The record that Claude Code keeps of a session; null as long as there is none. */
export function claudeTranscript(env: Environment, session: string): string | null {
  const projects = join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude'), 'projects');
  // It names the folders after working copies, in a way that changed before.
  const paths = foldersIn(projects).map((folder) => join(projects, folder, `${session}.jsonl`));
  return paths.find((path) => fs.existsSync(path)) ?? null;
}

function foldersIn(path: string): string[] {
  try {
    return fs.readdirSync(path);
  } catch {
    return [];
  }
}
