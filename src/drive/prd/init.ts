import { basename, join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { fillTemplate } from '../../core/template.ts';
import { ensureDir, readText, refuseLinkedFolders, writeAtomic } from '../../os/files/files.ts';
import type { PrdPaths, PrdPlace } from './tasks.ts';

type PrdInit = PrdPlace & {
  readonly templates: string;
  readonly name: string | undefined;
  readonly force: boolean;
  readonly now: number;
};

const marker = '.ralph-active';

/** Writes the files of a PRD that are not there yet; with `force` all of them. */
export function initPrd({ projectDir, paths, templates, name, force, now }: PrdInit) {
  if (name !== undefined) checkName(name);
  const files = freshFiles(templates, paths, {
    date: new Date(now).toISOString().slice(0, 10),
    project: name ?? basename(projectDir),
    branch: name ?? null,
  });
  const existing = force ? [] : [...files.keys()].filter((path) => readText(path) !== null);
  if (existing.length === files.size) {
    throw new RalphError('prd-exists', `there is a PRD here already: ${paths.root}`, {
      remedy: 'ralph prd archive keeps it and starts over; ralph prd init --force writes over it',
    });
  }
  const root = paths.top;
  refuseLinkedFolders(paths.prompt, root);
  ensureDir(paths.root, 0o755);
  const newFiles = [...files].filter(([path]) => !existing.includes(path));
  for (const [path, text] of newFiles) writeAtomic(path, text, { mode: 0o644, root });
  ignoreMarker(projectDir);
  return { written: newFiles.map(([path]) => path), kept: existing };
}

/** Adds the marker of a running loop to .gitignore: it is never committed. */
function ignoreMarker(projectDir: string): void {
  const path = join(projectDir, '.gitignore');
  const before = readText(path) ?? '';
  if (before.split(/\r?\n/).some((line) => line.trim() === marker || line.trim() === `/${marker}`)) return;
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  const gap = before === '' || before.endsWith('\n') ? '' : eol;
  writeAtomic(path, `${before}${gap}${marker}${eol}`, { mode: 0o644 });
}

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

type PrdNames = { readonly date: string; readonly project: string; readonly branch: string | null };

/** Returns the files of a fresh PRD by path, made of the templates in this folder. */
export function freshFiles(templates: string, paths: PrdPaths, { date, project, branch }: PrdNames) {
  const template = (name: string): string => {
    const text = readText(join(templates, name));
    if (text !== null) return text;
    throw new RalphError('incomplete-package', `this copy of ralphkit has no template ${name}`, {
      remedy: 'npm run build in the clone of ralphkit',
    });
  };
  return new Map([
    [paths.prd, template('prd-template.md')],
    [paths.tasks, withBranch(template('tasks-template.json'), branch)],
    [paths.progress, fillTemplate(template('progress-template.md'), { DATE: date, PROJECT_NAME: project })],
    [paths.prompt, template('prompt.md')],
  ]);
}

/** Sets the branch `ralph/<branch>`; null leaves the placeholder. */
function withBranch(text: string, branch: string | null): string {
  if (branch === null) return text;
  const tasks: unknown = JSON.parse(text);
  return `${JSON.stringify({ ...(isObject(tasks) ? tasks : {}), branchName: `ralph/${branch}` }, null, 2)}\n`;
}
