import { basename, join, relative, sep } from 'node:path';
import { lstatOf, reclaimDir, setAside, tryReadText, writeAtomic } from '../../os/files/files.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { commitFiles, headText, strayInHead } from '../../os/git/git-repair.ts';
import { type PrdPaths, putBack } from './tasks.ts';

/** A file of a PRD to put back: its right text (null: no file), and the rejected version (null: not readable). */
type FileToRestore = {
  readonly path: string;
  readonly text: string | null;
  readonly rejected: string | null;
};

/** Folders for restored files, and for those that were in their place (`aside`). */
export type RestoreFolders = { readonly projectDir: string; readonly top: string; readonly aside: string };

/** Returns the name of a rejected version: the iteration, then the name of the file. */
export function rejectedName(iteration: number, path: string): string {
  return `${String(iteration).padStart(3, '0')}.${basename(path)}`;
}

export function restoreFile(
  { path, text, rejected }: FileToRestore,
  iteration: number,
  { projectDir, top, aside }: RestoreFolders,
): void {
  reclaimDir(aside, projectDir);
  if (rejected !== null) writeAtomic(join(aside, rejectedName(iteration, path)), rejected, { fsync: false });
  putBack(path, text, top, aside);
}

/** A file as the last commit has to have it; `isWrong` judges another version than the one before the turn. */
export type CommittedFile = {
  readonly path: string;
  readonly text: string | null;
  isWrong?(text: string | null): boolean;
};

/** Commits the right version of files whose illegal version the agent has committed. */
export async function repairHead(
  { top, start, scratch }: { readonly top: string; readonly start: string | null; readonly scratch: string },
  files: readonly CommittedFile[],
  message?: string,
) {
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
  const subject = message ?? `chore: undo an illegal change to ${names}`;
  const failure = await commitFiles(root, wrong, subject, scratch);
  if (failure === null) return { committed: true, problem: null };
  const list = wrong.map(({ path }) => path).join(', ');
  return { committed: false, problem: `the last commit still has an illegal version of ${list}: ${failure}` };
}

/** Files of a PRD besides the task list, as they were before a turn. */
export type FileSnapshot = ReturnType<typeof snapshotFiles>;

/** Takes a snapshot of the files that steer the agents, which no agent may change, and of their log. */
export function snapshotFiles({ prompt, prd, progress, top }: PrdPaths) {
  const read = (path: string) => tryReadText(path, { root: top });
  // A file that cannot be read before the turn, such as a link of the user, cannot be put back.
  const steering = [prompt, prd]
    .map((path) => ({ path, text: read(path) }))
    .filter(({ path, text }) => text !== null || lstatOf(path) === null);
  const log = read(progress);
  return {
    changes() {
      const after = read(progress);
      const isLost = log !== null && isMostlyLost(log, after);
      return {
        steering: steering
          .map((file) => ({ ...file, rejected: read(file.path) }))
          .filter(
            ({ path, text, rejected }) => text !== rejected || (text === null && lstatOf(path) !== null),
          ),
        progress: isLost ? [{ path: progress, text: mergeProgress(log, after), rejected: after }] : [],
      };
    },
    committed(): CommittedFile[] {
      if (log === null) return steering;
      const isWrong = (text: string | null) => text === null || isMostlyLost(log, text);
      return [...steering, { path: progress, text: read(progress), isWrong }];
    },
  };
}

/** Moves away a repository that a turn made in the folder of the PRD, which would hide it from the project's own. */
export function removeNewRepository(
  { root }: PrdPaths,
  { projectDir, aside }: Pick<RestoreFolders, 'projectDir' | 'aside'>,
): string[] {
  const path = join(root, '.git');
  if (lstatOf(path) === null) return [];
  setAside(path, aside);
  return [relative(projectDir, path)];
}

/** True if a text lost more than half of its lines: it may be edited and added to, but not emptied. */
function isMostlyLost(before: string, after: string | null): boolean {
  const lines = linesOf(before);
  const remaining = new Set(linesOf(after ?? ''));
  return lines.filter((line) => remaining.has(line)).length * 2 < lines.length;
}

/** Returns the text before the turn, and after it the lines that are new. */
function mergeProgress(before: string, after: string | null): string {
  const oldLines = new Set(linesOf(before));
  const newLines = (after ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !oldLines.has(line.trim()));
  return newLines.length === 0 ? before : `${before.trimEnd()}\n\n${newLines.join('\n')}\n`;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
