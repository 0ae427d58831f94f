import { basename, join, relative, sep } from 'node:path';
import { putBack } from '../store/tasks.ts';
import { readText, reclaimDir, writeAtomic } from '../system/files.ts';
import { commitFiles, headText, strayInHead } from '../system/git-repair.ts';
import { isWithin, realPath } from '../system/real-path.ts';

/** A file of a PRD as it has to be (null: not there), and what it was changed to; null where that cannot be read. */
export type Undo = { readonly path: string; readonly text: string | null; readonly found: string | null };

/** Where files are put back, and where those go that were in their place. */
export type Room = { readonly projectDir: string; readonly top: string; readonly aside: string };

/** The folder of the rejected versions has the iteration in front of their names. */
export function rejectedName(iteration: number, path: string): string {
  return `${String(iteration).padStart(3, '0')}.${basename(path)}`;
}

/** Puts a file back, and keeps the version that was turned down. */
export function undo({ path, text, found }: Undo, iteration: number, { projectDir, top, aside }: Room): void {
  reclaimDir(aside, projectDir);
  if (found !== null) writeAtomic(join(aside, rejectedName(iteration, path)), found, { fsync: false });
  putBack(path, text, top, aside);
}

/** A file as the last commit has to have it; `isWrong` judges another version than the one before the turn. */
export type Committed = {
  readonly path: string;
  readonly text: string | null;
  isWrong?(text: string | null): boolean;
};

export type Mended = { readonly committed: boolean; readonly problem: string | null };

/** Where the agent has committed what was undone, one more commit has the right version. */
export async function mendHead(
  { top, start }: { readonly top: string; readonly start: string | null },
  files: readonly Committed[],
  scratch: string,
): Promise<Mended> {
  const root = realPath(top);
  const inside = files
    .map((file) => ({ ...file, path: realPath(file.path) }))
    .filter(({ path }) => isWithin(path, root))
    .map((file) => ({ ...file, path: relative(root, file.path).split(sep).join('/') }));
  const strays = await strayInHead(root, start, inside);
  const wrong = [];
  for (const stray of strays) {
    const isWrong = inside.find(({ path }) => path === stray.path)?.isWrong;
    if (!isWrong || isWrong(await headText(root, stray.path))) wrong.push(stray);
  }
  if (wrong.length === 0) return { committed: false, problem: null };
  const names = wrong.map(({ path }) => basename(path)).join(', ');
  const failed = await commitFiles(root, wrong, `chore: undo an illegal change to ${names}`, scratch);
  if (failed === null) return { committed: true, problem: null };
  const list = wrong.map(({ path }) => path).join(', ');
  return { committed: false, problem: `the last commit still has an illegal version of ${list}: ${failed}` };
}

/** The text of a file, where there is one that can be read. */
export function textOf(path: string, top: string): string | null {
  try {
    return readText(path, { root: top });
  } catch {
    return null;
  }
}
