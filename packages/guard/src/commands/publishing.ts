import { readArgs } from '../argv.ts';
import type { Call, Handler } from '../call.ts';
import { NETWORK, show } from '../marks.ts';
import { asksHelp } from './rules.ts';
import { isKnownRegistry } from './variables.ts';

export const release = 'Leave releases to a person or to CI.';

export function checkRegistry(call: Call, url: string | undefined): void {
  if (url !== undefined && !isKnownRegistry(url))
    call.deny('supply-chain', `takes packages from ${show(url)}`, 'Use the registry of the project.');
}

const useRelease = 'Install a released version from the registry.';
const packageHost =
  /(^|\.)(github\.com|gitlab\.com|bitbucket\.org|npmjs\.org|rubygems\.org|crates\.io|packagist\.org|pypi\.org|pythonhosted\.org|localhost)$/;

export function install(call: Call, packages: readonly string[], everywhere: boolean): void {
  for (const name of packages) {
    if (/[./]/.test(name) && call.content(name).includes(NETWORK))
      call.deny('supply-chain', `installs ${show(name)}`, useRelease);
    const [, host = ''] =
      /^(?:\w+ ?@ ?)?(?:git\+)?(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)/.exec(name) ?? [];
    if (host !== '' && !packageHost.test(host))
      call.deny('supply-chain', `installs code from ${host}`, useRelease);
  }
  if (everywhere) call.warn('system-config', 'installs for the whole machine', 'Install it in the project.');
}

/** A tool that is told to take packages, or to take them from now on, from an address. */
export const installer: Handler = (call) => {
  const [action = ''] = call.words.filter((word) => !word.startsWith('-'));
  const words = call.words.map((word) => word.replace(/^--?[\w-]+=/, ''));
  if (/^(add|install|require|sources?|config|tap|plugin)$/.test(action)) install(call, words, false);
};

export function publisher(pattern: RegExp): Handler {
  return (call) => {
    const long = 'manifest-path registry index repository repository-url git source server';
    const args = readArgs(call.words, 'Cp', long);
    if (call.name === 'luarocks') checkRegistry(call, args.value('server'));
    installer(call);
    if (pattern.test(args.rest.join(' ')) && !args.has('dry-run', 'n') && !asksHelp(call))
      call.deny('supply-chain', 'publishes a package', release);
  };
}
