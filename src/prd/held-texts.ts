import { join, relative } from 'node:path';
import type { PrdPaths } from '../store/tasks.ts';
import { lstatOf, setAside } from '../system/files.ts';
import { lostProgress, mergedProgress } from './progress-log.ts';
import { type Committed, type Room, textOf, type Undo } from './undo.ts';

/** The files of a PRD beside the task list, as they were before a turn. */
export type HeldTexts = {
  /** What the turn made of them that it may not. */
  changes(): { readonly steering: readonly Undo[]; readonly progress: readonly Undo[] };
  /** What the last commit has to have of them. */
  committed(): Committed[];
};

/** Holds the texts that steer the agents, one of which may not write for the next one, and the log of all of them. */
export function holdTexts({ prompt, prd, progress, top }: PrdPaths): HeldTexts {
  // What could not be read before the turn, a link of the user's own for instance, cannot be put back.
  const steering = [prompt, prd]
    .map((path) => ({ path, text: textOf(path, top) }))
    .filter(({ path, text }) => text !== null || lstatOf(path) === null);
  const log = textOf(progress, top);
  return {
    changes() {
      const after = textOf(progress, top);
      const lost = log !== null && lostProgress(log, after);
      return {
        steering: steering
          .map((each) => ({ ...each, found: textOf(each.path, top) }))
          .filter(({ path, text, found }) => text !== found || (text === null && lstatOf(path) !== null)),
        progress: lost ? [{ path: progress, text: mergedProgress(log, after), found: after }] : [],
      };
    },
    committed: () => [
      ...steering,
      ...(log === null
        ? []
        : [
            {
              path: progress,
              text: textOf(progress, top),
              isWrong: (text: string | null) => text === null || lostProgress(log, text),
            },
          ]),
    ],
  };
}

/** A repository that a turn made of the folder of the PRD would hide it from the one that it belongs to. */
export function unmakeRepository({ root }: PrdPaths, had: boolean, { projectDir, aside }: Room): string[] {
  const path = join(root, '.git');
  if (had || lstatOf(path) === null) return [];
  setAside(path, aside);
  return [relative(projectDir, path)];
}
