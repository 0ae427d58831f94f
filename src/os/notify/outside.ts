import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isWithin, realPath } from '../files/real-path.ts';
import { findRepository } from '../git/git.ts';
import { cleanEnvironment, findProgram } from '../process/program.ts';
import type { NotifyWorld } from './delivery.ts';

type Place = Pick<NotifyWorld, 'cwd' | 'env' | 'sandboxed'>;

/** Returns the surroundings of a program that tells the user something. With a sandbox it starts in the home: of a project it could obey files. */
export function outsideOf<P extends Place>(place: P): P {
  const env = cleanEnvironment(place.env, projectOf(place));
  return { ...place, env, cwd: place.sandboxed ? env.HOME || '/' : place.cwd };
}

/** Returns the word of a command that names something in the project, which the agent could have written; null if none does. */
export function wordOfProject(command: readonly string[], place: Place): string | null {
  const root = projectOf(place);
  const path = (word: string, at: number) =>
    at === 0 ? findProgram(word, outsideOf(place).env) : resolve(place.cwd, word);
  const match = command.find((word, at) => {
    const file = path(word, at);
    const isThere = file !== null && existsSync(file) && isWithin(realPath(file), root);
    return isThere || word.includes(root) || word.includes(place.cwd);
  });
  return match ?? null;
}

function projectOf({ cwd }: Pick<Place, 'cwd'>): string {
  return findRepository(cwd) ?? realPath(cwd);
}
