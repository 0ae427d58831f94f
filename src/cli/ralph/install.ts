import { basename, dirname, relative } from 'node:path';
import { keepOwnFile } from '../../config/trust/trust.ts';
import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { InstallPlace } from '../../drive/hook/hook-installer.ts';
import { carryOut, hostInstallers, planInstall } from '../../drive/session/install.ts';
import type { FileChange } from '../../os/files/file-changes.ts';
import { needPackageRoot } from '../kernel/package-root.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { installOptions } from './options.ts';

export function main(context: Context, input: Input<typeof installOptions>): void {
  change('install', context, input);
}

export function uninstall(context: Context, input: Input<typeof installOptions>): void {
  // It takes the guard out of the sessions of a host.
  requirePerson(context.env);
  change('uninstall', context, input);
}

/** Makes the changes and names the files; a dry run prints their lines instead. */
function change(
  action: 'install' | 'uninstall',
  { cwd, env, stdout }: Context,
  { values, args }: Input<typeof installOptions>,
): void {
  const installer = installerOf(args[0] ?? '', action);
  if (values.project && values.user) {
    throw new RalphError('usage', '--project and --user exclude each other', {
      remedy: `ralph ${action} --help`,
    });
  }
  const scope = values.user ? 'user' : 'project';
  const place: InstallPlace = { scope, cwd, env, root: needPackageRoot(), platform: process.platform };
  const plan = planInstall(installer, action, place);
  if (plan.changes.length === 0) stdout.write('Nothing to change.\n');
  const isDry = values['dry-run'] ?? false;
  const lines = isDry ? plan.changes.map(describeChange) : listChanges(plan.changes);
  for (const line of lines) stdout.write(`${line}\n`);
  if (isDry) stdout.write('Dry run: nothing was written.\n');
  else {
    carryOut(plan, action, place);
    // Only new files are all ours: hooks of a stranger may stand in the others.
    const made = plan.changes.filter(({ before }) => scope === 'project' && before === null);
    for (const { path } of made) keepOwnFile(env, cwd, relative(cwd, path));
  }
  for (const note of plan.notes) stdout.write(`${note}\n`);
}

function installerOf(host: string, action: string) {
  const installer = Object.hasOwn(hostInstallers, host) ? hostInstallers[host] : undefined;
  if (installer) return installer;
  const hosts = Object.keys(hostInstallers);
  const near = nearest(host, hosts);
  const hint = near === null ? ` (there are: ${hosts.join(', ')})` : `; did you mean ${near}?`;
  throw new RalphError('usage', `there is no host "${host}"${hint}`, {
    remedy: `ralph ${action} ${near ?? hosts[0]}`,
  });
}

/** Names the files on a line for each folder: + is new, ~ changed, - removed. */
export function listChanges(changes: readonly FileChange[]): string[] {
  const names = new Map<string, string[]>();
  for (const change of changes) {
    const folder = `${signOf(change)} ${dirname(change.path)}/`;
    names.set(folder, [...(names.get(folder) ?? []), basename(change.path)]);
  }
  return [...names].map(([folder, files]) => `${folder}${files.length === 1 ? '' : ': '}${files.join(', ')}`);
}

function signOf({ before, after }: FileChange): string {
  if (after === null) return '-';
  return before === null ? '+' : '~';
}

/** Shows a change of a file: the lines between its equal beginning and its equal end. */
export function describeChange(change: FileChange): string {
  const { path, before, after } = change;
  if (after === null) return `- ${path} (removed)`;
  const [old, now] = [before?.split('\n') ?? [], after.split('\n')];
  const differs = (line: string, index: number) => line !== now[index];
  const start = Math.max(0, old.findIndex(differs));
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const part = (lines: string[], sign: string) =>
    lines.slice(start, lines.length - same).map((line) => `  ${sign}${line}`);
  return [`${signOf(change)} ${path}`, ...part(old, '-'), ...part(now, '+')].join('\n');
}
