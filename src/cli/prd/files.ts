import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { archivePrd, shownPath } from '../../drive/prd/archive.ts';
import { initPrd } from '../../drive/prd/init.ts';
import { settleLastRun } from '../../drive/prd/last-run.ts';
import { forgetMemory } from '../../drive/prd/memory.ts';
import { planCommand, prdPlace, refuseSecondLoop } from '../../drive/prd/open.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { findPackageRoot } from '../kernel/package-root.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { prdArchiveOptions, prdInitOptions } from './options.ts';

/** `ralph prd init` */
export async function init(
  { cwd, env, stdout, stderr }: Context,
  { values }: Input<typeof prdInitOptions>,
): Promise<number> {
  const place = prdPlace(cwd, values);
  if (values.force) {
    refuseSecondLoop(place.projectDir);
    // What is written now must not be taken for the work of a loop that was killed.
    for (const line of await settleLastRun(place, systemClock, env))
      stderr.write(`warning: ${cleanTerminal(line)}\n`);
  }
  const { written, kept } = initPrd({
    ...place,
    templates: templatesFolder(),
    name: values.name,
    force: values.force ?? false,
    now: systemClock.now(),
  });
  if (written.includes(place.paths.tasks)) forgetMemory(env, place.paths.tasks);
  const shown = (path: string): string => shownPath(cwd, path);
  stdout.write(
    [
      ...written.map((path) => `wrote ${shown(path)}`),
      ...kept.map((path) => `kept  ${shown(path)}`),
      '',
      'Next steps:',
      `  1. Plan: ${planCommand}, or write ${shown(place.paths.prd)} and ${shown(place.paths.tasks)} yourself`,
      `  2. Adapt ${shown(place.paths.prompt)} to your project, if you want`,
      '  3. Check the stories: ralph prd validate',
      '  4. Commit, then start: ralph prd run',
      '',
    ].join('\n'),
  );
  return 0;
}

/** `ralph prd archive` */
export async function archive(
  { cwd, env, stdout, stderr }: Context,
  { values }: Input<typeof prdArchiveOptions>,
): Promise<number> {
  const place = prdPlace(cwd, values);
  refuseSecondLoop(place.projectDir);
  for (const line of await settleLastRun(place, systemClock, env))
    stderr.write(`warning: ${cleanTerminal(line)}\n`);
  const { folder, uncommitted } = await archivePrd({
    ...place,
    templates: templatesFolder(),
    label: values.label,
    includeLogs: values['include-logs'] ?? false,
    now: systemClock.now(),
  });
  forgetMemory(env, place.paths.tasks);
  stdout.write(`archived to ${shownPath(cwd, folder)}\n`);
  if (uncommitted === null) stdout.write('committed; the PRD starts over with fresh templates\n');
  else stderr.write(`warning: the archive is there, but was not committed: ${uncommitted}\n`);
  return 0;
}

function templatesFolder(): string {
  const root = findPackageRoot();
  if (root !== null) return join(root, 'plugins/claude-code/templates');
  throw new RalphError('incomplete-package', 'this copy of ralphkit has no templates', {
    remedy: 'npm install -g ralphkit',
  });
}
