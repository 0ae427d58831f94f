import { dirname, join } from 'node:path';
import { projectPaths } from '../../config/paths.ts';
import { messageOf } from '../../core/error.ts';
import { findJsonError } from '../../core/json-error.ts';
import { isMachineFailure } from '../../os/files/file-error.ts';
import { lstatOf, readText, reclaimDir, setAside, writeAtomic } from '../../os/files/files.ts';
import { isWithin } from '../../os/files/real-path.ts';
import { findRepository } from '../../os/git/git.ts';
import { jsonFormProblem } from './json-form.ts';
import { activePath } from './ralph-active-path.ts';

/** Returns the paths of a PRD. Below `top` no file is read or written through a link. */
export function prdPaths(ralphDir: string, projectDir = dirname(ralphDir)) {
  const logs = join(ralphDir, 'logs');
  return {
    root: ralphDir,
    top: topOf(ralphDir, projectDir),
    prd: join(ralphDir, 'prd.md'),
    tasks: join(ralphDir, 'tasks.json'),
    progress: join(ralphDir, 'progress.txt'),
    prompt: join(ralphDir, 'prompt.md'),
    logs,
    summary: join(logs, 'summary.csv'),
    log: (run: string, iteration: number) => join(logs, `${run}-${String(iteration).padStart(3, '0')}.log`),
  };
}

/** Returns the files of the loop itself, which nobody commits. */
export function ownFiles(projectDir: string, { logs }: Pick<PrdPaths, 'logs'>): string[] {
  return [projectPaths(projectDir).root, activePath(projectDir), logs];
}

/** Returns the folder below which a link may be one that an agent made. */
function topOf(ralphDir: string, projectDir: string): string {
  const tops = [findRepository(projectDir) ?? projectDir, projectDir];
  return tops.find((folder) => isWithin(ralphDir, folder)) ?? dirname(ralphDir);
}

export type PrdPaths = ReturnType<typeof prdPaths>;

export type PrdPlace = { readonly projectDir: string; readonly paths: PrdPaths };

/** Content of tasks.json, or in one sentence why there is none. */
export type TasksFile =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly text: string | null; readonly problem: string };

/** Reads tasks.json. Throws only if the machine fails. */
export function readTasksFile({ tasks, top }: Pick<PrdPaths, 'tasks' | 'top'>): TasksFile {
  try {
    return parseTasks(readText(tasks, { root: top }));
  } catch (error) {
    if (isMachineFailure(error)) throw error;
    return { ok: false, text: null, problem: messageOf(error) };
  }
}

/** Parses the text of tasks.json; null if there is no file. */
export function parseTasks(text: string | null): TasksFile {
  if (text === null) return { ok: false, text, problem: 'tasks.json does not exist' };
  try {
    const value: unknown = JSON.parse(text);
    const problem = jsonFormProblem(text);
    return problem === null
      ? { ok: true, text, value }
      : { ok: false, text, problem: `tasks.json ${problem}` };
  } catch {
    const place = findJsonError(text);
    const where =
      place === null ? '' : ` (line ${place.line}, column ${place.column}: ${place.expected} expected)`;
    return { ok: false, text, problem: `tasks.json is not valid JSON${where}` };
  }
}

/** Puts a file of a PRD back, or takes one away (null); what is in the way, a link or a folder, is moved to `aside`. */
export function putBack(path: string, text: string | null, top: string, aside: string): void {
  reclaimDir(dirname(path), top, 0o755, aside);
  const stat = lstatOf(path);
  if (stat && (text === null || !stat.isFile())) setAside(path, aside);
  if (text !== null) writeAtomic(path, text, { mode: 0o644, root: top });
}

const maxLines = 20;

/** Tells the agent about work that it did not commit. */
export function commitWords(intro: string, changes: readonly string[]): string {
  const more = changes.length > maxLines ? [`  and ${changes.length - maxLines} more`] : [];
  return [
    intro,
    ...changes.slice(0, maxLines).map((line) => `  ${line}`),
    ...more,
    '1. Update ralph/progress.txt with what was accomplished + learnings',
    '2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/',
    '3. Commit ALL changes including progress.txt and tasks.json updates',
  ].join('\n');
}
