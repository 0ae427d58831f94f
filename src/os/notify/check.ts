import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isWithin, realPath } from '../files/real-path.ts';
import { findRepository } from '../git/git.ts';
import { cleanEnvironment, findProgram } from '../process/program.ts';
import type { NotifySettings, NotifyWorld } from './delivery.ts';
import { desktopCommand } from './desktop.ts';
import { findSendmail } from './email.ts';
import { services } from './presets.ts';

type Place = Pick<NotifyWorld, 'cwd' | 'env' | 'sandboxed'>;

/**
 * Returns in one sentence why a channel can never work, or null. Sends nothing. A secret without a webhook is a mistake
 * only if the project has it (`ownSecret`): one in the environment is for all projects.
 */
export function notifyProblem(
  settings: NotifySettings,
  place: Place,
  { ownSecret }: { readonly ownSecret: boolean },
): string | null {
  const { webhook, secret, command, email } = settings;
  const wrong = (['webhook', ...services] as const).find((name) => {
    const address = settings[name];
    return address !== undefined && !URL.canParse(address);
  });
  if (wrong !== undefined) {
    return `notify.${wrong} is no address, expected one such as "https://example.com/hook"`;
  }
  if (email !== undefined && findSendmail(outsideOf(place).env) === null) {
    return 'notify.email is set, but there is no sendmail on this machine';
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

/** Returns the surroundings of a program that tells the user something. With a sandbox it starts in the home: of a project it could obey files. */
export function outsideOf<P extends Place>(place: P): P {
  const env = cleanEnvironment(place.env, projectOf(place));
  return { ...place, env, cwd: place.sandboxed ? env.HOME || '/' : place.cwd };
}

/** Returns the word of a command that names something in the project, which the agent could have written; null if none does. */
export function wordOfProject(command: readonly string[], place: Place): string | null {
  const root = projectOf(place);
  const path = (word: string, at: number) =>
    at === 0 ? findProgram(word, outsideOf(place).env) : resolve(place.cwd, word);
  const match = command.find((word, at) => {
    const file = path(word, at);
    const isThere = file !== null && existsSync(file) && isWithin(realPath(file), root);
    return isThere || word.includes(root) || word.includes(place.cwd);
  });
  return match ?? null;
}

function projectOf({ cwd }: Pick<Place, 'cwd'>): string {
  return findRepository(cwd) ?? realPath(cwd);
}
