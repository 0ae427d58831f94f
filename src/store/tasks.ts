import { join } from 'node:path';
import { messageOf } from '../core/error.ts';
import { findJsonError } from '../core/json-error.ts';
import { jsonFormProblem } from '../core/json-form.ts';
import { lstatOf, readText, setAside, writeAtomic } from '../system/files.ts';
import { findRepository } from '../system/git.ts';
import { isWithin } from '../system/real-path.ts';

/** Where the files of a PRD are. */
export function prdPaths(ralphDir: string) {
  const logs = join(ralphDir, 'logs');
  return {
    root: ralphDir,
    prd: join(ralphDir, 'prd.md'),
    tasks: join(ralphDir, 'tasks.json'),
    progress: join(ralphDir, 'progress.txt'),
    prompt: join(ralphDir, 'prompt.md'),
    logs,
    summary: join(logs, 'summary.csv'),
    log: (run: string, iteration: number) => join(logs, `${run}-${String(iteration).padStart(3, '0')}.log`),
  };
}

/** From here down to the files of a PRD nothing is read or written through a link: an agent may have made it. */
export function prdTop(projectDir: string, { root }: Pick<ReturnType<typeof prdPaths>, 'root'>): string {
  const tops = [findRepository(projectDir) ?? projectDir, projectDir];
  return tops.find((folder) => isWithin(root, folder)) ?? root;
}

/** The content of tasks.json, or in one sentence why there is none. */
export type TasksFile =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly text: string | null; readonly problem: string };

/** Reads tasks.json; whatever is wrong with it is a value. */
export function readTasksFile(path: string): TasksFile {
  let text: string | null = null;
  try {
    text = readText(path);
    if (text === null) return { ok: false, text, problem: 'tasks.json does not exist' };
    const value: unknown = JSON.parse(text);
    const problem = jsonFormProblem(text);
    return problem === null
      ? { ok: true, text, value }
      : { ok: false, text, problem: `tasks.json ${problem}` };
  } catch (error) {
    if (text === null) return { ok: false, text, problem: messageOf(error) };
    const place = findJsonError(text);
    const where =
      place === null ? '' : ` (line ${place.line}, column ${place.column}: ${place.expected} expected)`;
    return { ok: false, text, problem: `tasks.json is not valid JSON${where}` };
  }
}

/** Puts an earlier content of tasks.json back; a link or a folder in its place is moved out of the way. */
export function restoreTasks(path: string, text: string): void {
  const found = lstatOf(path);
  if (found && !found.isFile()) setAside(path);
  writeAtomic(path, text, { mode: 0o644 });
}
