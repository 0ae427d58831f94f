import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import { carryOut, hostInstallers, planInstall } from '../../drive/session/install.ts';
import type { InstallPlace } from '../../drive/session/installer.ts';
import type { FileChange } from '../../os/files/file-changes.ts';
import { needPackageRoot } from '../kernel/package-root.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { installOptions } from './options.ts';

export function main(context: Context, input: Input<typeof installOptions>): number {
  return change('install', context, input);
}

export function uninstall(context: Context, input: Input<typeof installOptions>): number {
  return change('uninstall', context, input);
}

/** Prints the changes, and makes them unless it is a dry run. */
function change(
  action: 'install' | 'uninstall',
  { cwd, env, stdout }: Context,
  { values, args }: Input<typeof installOptions>,
): number {
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
  for (const one of plan.changes) stdout.write(`${describeChange(one)}\n`);
  if (values['dry-run']) stdout.write('Dry run: nothing was written.\n');
  else carryOut(plan, action, place);
  for (const note of plan.notes) stdout.write(`${note}\n`);
  return 0;
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

/** Shows a change of a file: the lines between its equal beginning and its equal end. */
export function describeChange({ path, before, after }: FileChange): string {
  if (after === null) return `- ${path} (removed)`;
  const [old, now] = [before?.split('\n') ?? [], after.split('\n')];
  const differs = (line: string, index: number) => line !== now[index];
  const start = Math.max(0, old.findIndex(differs));
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const part = (lines: string[], sign: string) =>
    lines.slice(start, lines.length - same).map((line) => `  ${sign}${line}`);
  return [`${before === null ? '+' : '~'} ${path}`, ...part(old, '-'), ...part(now, '+')].join('\n');
}
