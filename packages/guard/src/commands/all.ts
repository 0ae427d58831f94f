import type { Handler, Handlers } from '../call.ts';
import { answers } from './answers.ts';
import { files } from './files.ts';
import { git } from './git.ts';
import { packages } from './packages.ts';
import { patterns } from './patterns.ts';
import { processes } from './processes.ts';
import { byName } from './rules.ts';
import { searches } from './searches.ts';
import { shells } from './shells.ts';
import { text } from './text.ts';
import { wrappers } from './wrappers.ts';

const commonPrograms = byName(
  packages,
  git,
  shells,
  files,
  answers,
  patterns,
  text,
  searches,
  wrappers,
  processes,
);

let rarePrograms: Handlers | undefined;

export async function loadRarePrograms(): Promise<void> {
  ({ rarePrograms } = await import('./rare.ts'));
}

class NotLoaded extends Error {}

/** Judges, and again with the rare programs if one is called: loading them takes longer than most judgements. */
export async function withRarePrograms<T>(judge: () => T): Promise<T> {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    await loadRarePrograms();
    return judge();
  }
}

function loadedPrograms(): Handlers {
  if (rarePrograms === undefined) throw new NotLoaded();
  return rarePrograms;
}

export function handlerOf(name: string): Handler | undefined {
  if (Object.hasOwn(commonPrograms, name)) return commonPrograms[name];
  const rare = loadedPrograms();
  return Object.hasOwn(rare, name) ? rare[name] : undefined;
}

export function programNames(): readonly string[] {
  return [...Object.keys(commonPrograms), ...Object.keys(loadedPrograms())];
}
