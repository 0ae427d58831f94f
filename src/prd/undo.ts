import { basename, dirname, join, relative } from 'node:path';
import { restoreTasks } from '../store/tasks.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { commitPaths, committedText } from '../system/git.ts';

/** A file of a PRD as it has to be, and what it was changed to; null where that cannot be read. */
export type Undo = { readonly path: string; readonly text: string; readonly found: string | null };

/** The folder of the rejected versions has the iteration in front of their names. */
export function rejectedName(iteration: number, path: string): string {
  return `${String(iteration).padStart(3, '0')}.${basename(path)}`;
}

/** Puts a file back, and keeps the version that was turned down. */
export function undo({ path, text, found }: Undo, iteration: number, folder: string): void {
  if (found !== null) {
    ensureDir(folder);
    writeAtomic(join(folder, rejectedName(iteration, path)), found, { fsync: false });
  }
  restoreTasks(path, text);
}

/** Where the agent has committed what was undone, the last commit gets the right version, too. True when it did. */
export async function commitUndone(projectDir: string, undone: readonly Undo[]): Promise<boolean> {
  const wrong: string[] = [];
  for (const { path, text, found } of undone) {
    if (found === null || found === text) continue;
    if ((await committedText(dirname(path), basename(path))) === found) wrong.push(path);
  }
  if (wrong.length === 0) return false;
  const names = wrong.map((path) => basename(path)).join(', ');
  const paths = wrong.map((path) => relative(projectDir, path));
  const message = `chore: undo an illegal change to ${names}`;
  return (await commitPaths(projectDir, paths, message)) === null;
}

/** The text of a file, where there is one that can be read. */
export function textOf(path: string): string | null {
  try {
    return readText(path);
  } catch {
    return null;
  }
}
