import { readArgs } from '../argv.ts';
import type { Call, Handler } from '../call.ts';
import { show, UNKNOWN } from '../marks.ts';
import { isInside } from '../paths.ts';
import { zoneOf } from '../zones.ts';

/** No alias can be called so: remembers that `git clean` needs no -f. */
export const forcedClean = 'clean.requireForce=false';

/** No alias can be called so: remembers where a remote leads that the command adds itself. */
export function newRemote(name: string): string {
  return `remote ${name}`;
}

/** True for the usual hosts of repositories and for this machine. */
export function isCodeHost(url: string): boolean {
  return /^(\.{0,2}\/|file:|(?:\w+:\/\/)?(?:[^@/]*@)?(?:[\w-]+\.)*(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|azure\.com|localhost)[:/])/.test(
    url,
  );
}

const programSetting =
  /^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|(diff|merge)tool\..*\.cmd|filter\..*\.(clean|smudge|process)|merge\..*\.driver|credential(\..*)?\.helper|gpg(\..*)?\.program|interactive\.difffilter|uploadpack\.packobjectshook|web\.browser|browser\..*\.cmd|man\..*\.cmd|remote\..*\.(uploadpack|receivepack|vcs)|trailer\..*\.(cmd|command))$/i;
const knownPrograms =
  /^["']?(\S*\/)?(cat|less|more|delta|diff-so-fancy|vim?|nvim|nano|emacs|code(-insiders)?|true|ssh|git|store|cache|osxkeychain|manager(-core)?|gh|npx|gpg2?|meld|kdiff3|:)(\s|["']|$)/;

export const config: Handler = (call) => {
  const words = call.words.filter((word) => !/^(set|get|list|unset)$/.test(word));
  const args = readArgs(words, 'f', 'file type default');
  if (
    args.has('get', 'get-all', 'get-regexp', 'list', 'l', 'unset', 'unset-all', 'e', 'edit') ||
    /^(get|list|unset)$/.test(call.words[0] ?? '')
  )
    return UNKNOWN;
  const [name = '', value] = args.rest;
  if (value !== undefined) useSetting(call, `${name}=${value}`, true, args.has('global', 'system'));
  return '';
};

export function changesRemote(call: Call, url: string): void {
  const instead = 'Add another remote beside it, and let a person decide.';
  call.deny('exfiltration', `sends the project to ${show(url)} from now on`, instead);
}

/** A setting given for one call is tried as the program it names; one that stays is judged more strictly. */
export function useSetting(call: Call, setting: string, stays: boolean, everywhere = false): void {
  const [name = '', ...text] = setting.split('=');
  const value = text.join('=');
  const [, alias] = /^alias\.(.+)$/i.exec(name) ?? [];
  if (alias !== undefined) {
    call.shell.world.gitAliases.set(alias, value);
    if (everywhere && value.startsWith('!'))
      call.deny(
        'persistence',
        `makes git ${alias} run ${show(value.slice(1))} everywhere`,
        'Leave the configuration of the user as it is.',
      );
    return;
  }
  if (/^clean\.requireforce$/i.test(name) && /^(false|no|off|0)$/i.test(value))
    call.shell.world.gitAliases.set(forcedClean, '');
  if (/^core\.hookspath$/i.test(name)) {
    if (value === '' || !isInside(call.path(value), call.context.projectRoot))
      call.deny('git-hooks', `takes the hooks of git from ${show(value) || 'nowhere'}`);
    return;
  }
  if (
    /^(include\.path|includeif\..*\.path|core\.attributesfile|init\.templatedir|core\.worktree)$/i.test(
      name,
    ) &&
    (stays || zoneOf(call.path(value), call.context) === 'temporary')
  )
    return void call.deny('git-hooks', `makes git read ${show(value)}`);
  if (/^http(\..*)?\.sslverify$/i.test(name) && /^(false|no|off|0)$/i.test(value))
    call.deny('environment', 'makes git trust any server', 'Name the certificate with http.sslCAInfo.');
  if (/^remote\..*\.(url|pushurl)$/i.test(name) && stays) changesRemote(call, value);
  if (/^url\..*\.(insteadof|pushinsteadof)$/i.test(name) && stays)
    return void call.deny('git-hooks', 'sends what goes to one remote to another');
  if (!programSetting.test(name) || value === '') return;
  const command = value.replace(/^!/, '');
  if (/^core\.sshcommand$/i.test(name) && !/^\S*\bssh(\s|$)/.test(command))
    call.deny('environment', `makes git run ${show(command)}`, 'Leave the way to the remote as it is.');
  call.script(command, { stdin: null });
  if (stays && !knownPrograms.test(command)) call.deny('git-hooks', `makes git run ${show(command)}`);
}

export const connects: Handler = (call) => {
  const args = readArgs(call.words, 'ubcoj', 'upload-pack branch config origin depth template exec');
  for (const program of args.all('upload-pack', 'exec', ...(call.words.includes('-u') ? ['u'] : [])))
    if (!/^git-/.test(program)) call.script(program);
  for (const setting of args.all('c', 'config')) useSetting(call, setting, false);
  for (const name of args.rest) {
    const url = call.shell.world.gitAliases.get(newRemote(name)) ?? name;
    const [, command] = /^ext::(.+)$/s.exec(url) ?? [];
    // Words are parted by a space, and `% ` is a space inside a word.
    if (command) call.run(command.split(/(?<!%) /).map((word) => word.replaceAll('% ', ' ')));
  }
};
