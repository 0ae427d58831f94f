import type { Handler, Handlers } from '../model.ts';
import { onDemand } from '../on-demand.ts';
import { answers } from './answers.ts';
import { files } from './files.ts';
import { git } from './git.ts';
import { packages } from './packages.ts';
import { patterns } from './patterns.ts';
import { processes } from './processes.ts';
import { searches } from './searches.ts';
import { sed } from './sed.ts';
import { shells } from './shells.ts';
import { text } from './text.ts';
import { wrappers } from './wrappers.ts';

/** Programs that agents call all day. */
const commonPrograms: readonly Handlers[] = [
  packages,
  git,
  shells,
  files,
  answers,
  sed,
  patterns,
  text,
  searches,
  wrappers,
  processes,
];

export const rare = onDemand(() => import('./rare.ts'));

export function handlerOf(name: string): Handler | undefined {
  return handlerIn(commonPrograms, name) ?? handlerIn(rare.module.rarePrograms, name);
}

function handlerIn(groups: readonly Handlers[], name: string): Handler | undefined {
  return groups.find((group) => Object.hasOwn(group, name))?.[name];
}

export function programNames(): readonly string[] {
  return [...commonPrograms, ...rare.module.rarePrograms].flatMap((group) => Object.keys(group));
}
