import { findProgram } from '../process/process.ts';
import type { NotifySettings, NotifyWorld } from './delivery.ts';
import { desktopCommand } from './desktop.ts';
import { outsideOf, wordOfProject } from './outside.ts';

/**
 * Returns in one sentence why a channel can never work, or null. Sends nothing. A secret without a webhook is a mistake
 * only if the project has it (`ownSecret`): one in the environment is for all projects.
 */
export function notifyProblem(
  { webhook, secret, command }: NotifySettings,
  place: Pick<NotifyWorld, 'cwd' | 'env' | 'sandboxed'>,
  { ownSecret }: { readonly ownSecret: boolean },
): string | null {
  if (webhook !== undefined && !URL.canParse(webhook)) {
    return 'notify.webhook is no address, expected one such as "https://example.com/hook"';
  }
  if (ownSecret && secret !== undefined && webhook === undefined) {
    return 'notify.secret is set, but there is no notify.webhook for it to sign';
  }
  if (command === undefined) return null;
  const [program] = command;
  if (program === undefined) return 'notify.command is an empty list, expected a program and its words';
  const word = place.sandboxed ? wordOfProject(command, place) : null;
  if (word !== null) {
    return `notify.command has "${word}", which is in the project: an agent in a sandbox could change what runs outside of it. Put it elsewhere, such as ~/bin`;
  }
  if (findProgram(program, outsideOf(place).env) === null) {
    return `notify.command starts with "${program}", which is not installed, or not on the PATH`;
  }
  return null;
}

/** Returns what does not work here, though it may elsewhere. */
export function notifyWarnings(
  { bell, desktop }: NotifySettings,
  { env, terminal }: Pick<NotifyWorld, 'env' | 'terminal'>,
): string[] {
  if (terminal !== null) return [];
  const nowhere = desktop && desktopCommand({ title: '', body: '' }, env) === null;
  return [
    ...(bell ? ['notify.bell is on, but there is no terminal here to ring'] : []),
    ...(nowhere ? ['notify.desktop is on, but there is neither a desktop nor a terminal here'] : []),
  ];
}
