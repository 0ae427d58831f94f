import type { Handler } from '../call.ts';
import { onDemand } from '../on-demand.ts';
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

export const rare = onDemand(() => import('./rare.ts'));

export function handlerOf(name: string): Handler | undefined {
  if (Object.hasOwn(commonPrograms, name)) return commonPrograms[name];
  const { rarePrograms } = rare.module;
  return Object.hasOwn(rarePrograms, name) ? rarePrograms[name] : undefined;
}

export function programNames(): readonly string[] {
  return [...Object.keys(commonPrograms), ...Object.keys(rare.module.rarePrograms)];
}
