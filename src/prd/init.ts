import { basename, join } from 'node:path';
import { RalphError } from '../core/error.ts';
import type { prdPaths } from '../store/tasks.ts';
import { ensureDir, readText, refuseLinkedFolders, writeAtomic } from '../system/files.ts';
import { freshFiles } from './templates.ts';

export type PrdInit = {
  readonly projectDir: string;
  readonly paths: ReturnType<typeof prdPaths>;
  readonly templates: string;
  readonly name: string | undefined;
  readonly force: boolean;
  readonly now: number;
};

export type PrdInitialized = { readonly written: readonly string[]; readonly kept: readonly string[] };

const marker = '.ralph-active';

/** Writes the files of a PRD that are not there yet; with `force` all of them. */
export function initPrd({ projectDir, paths, templates, name, force, now }: PrdInit): PrdInitialized {
  if (name !== undefined) checkName(name);
  const files = freshFiles(templates, paths, {
    date: new Date(now).toISOString().slice(0, 10),
    project: name ?? basename(projectDir),
    branch: name ?? null,
  });
  const kept = force ? [] : [...files.keys()].filter((path) => readText(path) !== null);
  if (kept.length === files.size) {
    throw new RalphError('prd-exists', `there is a PRD here already: ${paths.root}`, {
      remedy: 'ralph prd archive keeps it and starts over; ralph prd init --force writes over it',
    });
  }
  const root = paths.top;
  refuseLinkedFolders(paths.prompt, root);
  ensureDir(paths.root, 0o755);
  const written = [...files].filter(([path]) => !kept.includes(path));
  for (const [path, text] of written) writeAtomic(path, text, { mode: 0o644, root });
  ignoreMarker(projectDir);
  return { written: written.map(([path]) => path), kept };
}

/** The marker of a running loop is never committed. */
function ignoreMarker(projectDir: string): void {
  const path = join(projectDir, '.gitignore');
  const before = readText(path) ?? '';
  if (before.split(/\r?\n/).some((line) => line.trim() === marker || line.trim() === `/${marker}`)) return;
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  const gap = before === '' || before.endsWith('\n') ? '' : eol;
  writeAtomic(path, `${before}${gap}${marker}${eol}`, { mode: 0o644 });
}

/** A branch of git will have this name. */
function checkName(name: string): void {
  const usable =
    /^[\p{L}\p{N}_][\p{L}\p{N}_./-]*$/u.test(name) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(name);
  if (usable) return;
  const better = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  throw new RalphError('bad-name', `"${name}" cannot be part of the name of a branch`, {
    remedy: `ralph prd init --name ${better || 'my-feature'}`,
  });
}
