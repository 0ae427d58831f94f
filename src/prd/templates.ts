import { join } from 'node:path';
import { RalphError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import { fillTemplate } from '../core/template.ts';
import type { prdPaths } from '../store/tasks.ts';
import { readText } from '../system/files.ts';

export type PrdNames = {
  readonly date: string;
  readonly project: string;
  /** The part of the branch after `ralph/`; null leaves the placeholder. */
  readonly branch: string | null;
};

/** The files of a fresh PRD by their paths, made of the templates in this folder. */
export function freshFiles(
  templates: string,
  paths: ReturnType<typeof prdPaths>,
  { date, project, branch }: PrdNames,
): ReadonlyMap<string, string> {
  const template = (name: string): string => {
    const text = readText(join(templates, name));
    if (text !== null) return text;
    throw new RalphError('incomplete-package', `this copy of ralphkit has no template ${name}`, {
      remedy: 'npm install -g ralphkit',
    });
  };
  return new Map([
    [paths.prd, template('prd-template.md')],
    [paths.tasks, withBranch(template('tasks-template.json'), branch)],
    [paths.progress, fillTemplate(template('progress-template.md'), { DATE: date, PROJECT_NAME: project })],
    [paths.prompt, template('prompt.md')],
  ]);
}

function withBranch(text: string, branch: string | null): string {
  if (branch === null) return text;
  const tasks: unknown = JSON.parse(text);
  return `${JSON.stringify({ ...(isObject(tasks) ? tasks : {}), branchName: `ralph/${branch}` }, null, 2)}\n`;
}
