import { join, relative } from 'node:path';
import { keepOwnFile } from '../../config/trust/trust.ts';
import { archivePrd, shownPath } from '../../drive/prd/archive.ts';
import { initPrd } from '../../drive/prd/init.ts';
import { settleLastRun } from '../../drive/prd/last-run.ts';
import { forgetMemory } from '../../drive/prd/memory.ts';
import { planCommand, prdPlace, refuseSecondLoop } from '../../drive/prd/open.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { needPlugin } from '../kernel/package-root.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { prdArchiveOptions, prdInitOptions } from './options.ts';

/** `ralph prd init` */
export async function init(context: Context, { values }: Input<typeof prdInitOptions>): Promise<void> {
  const { cwd, env, stdout } = context;
  const place = prdPlace(cwd, values);
  if (values.force) {
    refuseSecondLoop(place.projectDir);
    // The new files must not be taken for the work of a loop that was killed.
    await settle(place, context);
  }
  const { name, force = false } = values;
  const files = initPrd({ ...place, templates: templatesFolder(), name, force, now: systemClock.now() });
  if (files.written.includes(place.paths.tasks)) forgetMemory(env, place.paths.tasks);
  if (files.written.includes(place.paths.prompt))
    keepOwnFile(env, place.projectDir, relative(place.projectDir, place.paths.prompt));
  const short = (path: string): string => shownPath(cwd, path);
  stdout.write(
    [
      ...files.written.map((path) => `wrote ${short(path)}`),
      ...files.kept.map((path) => `kept  ${short(path)}`),
      '',
      'Next steps:',
      `  1. Plan: ${planCommand}, or write ${short(place.paths.prd)} and ${short(place.paths.tasks)} yourself`,
      `  2. Adapt ${short(place.paths.prompt)} to your project, if you want`,
      '  3. Check the stories: ralph prd validate',
      '  4. Commit, then start: ralph prd run',
      '',
    ].join('\n'),
  );
}

/** `ralph prd archive` */
export async function archive(context: Context, { values }: Input<typeof prdArchiveOptions>) {
  const { cwd, env, stdout, stderr } = context;
  const place = prdPlace(cwd, values);
  refuseSecondLoop(place.projectDir);
  await settle(place, context);
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
}

/** Books the end of a loop that was killed, and prints what that changed. */
async function settle(place: ReturnType<typeof prdPlace>, { env, stderr }: Context): Promise<void> {
  for (const line of await settleLastRun(place, systemClock, env))
    stderr.write(`warning: ${cleanTerminal(line)}\n`);
}

function templatesFolder(): string {
  return join(needPlugin(), 'templates');
}
