import { readArgs } from '../argv.ts';
import { shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler } from '../model.ts';
import { asksHelp } from './rules.ts';
import { isKnownRegistry } from './variables.ts';

export const release = 'Leave releases to a person or to CI.';

export function checkRegistry(call: Call, url: string | undefined): void {
  if (url !== undefined && !isKnownRegistry(url))
    call.act('deny', 'supply-chain', `takes packages from ${shown(url)}`, 'Use the registry of the project.');
}

/** Packages given by their address. */
export function install(call: Call, packages: readonly string[], everywhere: boolean): void {
  for (const name of packages) {
    const [, host] = /^(?:\w+ ?@ ?)?(?:git\+)?(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)/.exec(name) ?? [];
    if (
      host &&
      !/(^|\.)(github\.com|gitlab\.com|bitbucket\.org|npmjs\.org|pypi\.org|pythonhosted\.org|localhost)$/.test(
        host,
      )
    )
      call.act(
        'deny',
        'supply-chain',
        `installs code from ${host}`,
        'Install a released version from the registry.',
      );
  }
  if (everywhere)
    call.act('warn', 'system-config', 'installs for the whole machine', 'Install it in the project.');
}

/** A tool that publishes when it is told so. */
export function publisher(pattern: RegExp): Handler {
  return (call) => {
    const args = readArgs(call.words, {
      letters: 'Cp',
      long: ['manifest-path', 'registry', 'index', 'repository', 'repository-url', 'git', 'source', 'server'],
    });
    if (call.name === 'gem') {
      checkRegistry(call, args.value('source'));
      if (args.rest[0] === 'sources' && args.has('add', 'a')) checkRegistry(call, args.rest[1]);
    }
    if (call.name === 'luarocks') checkRegistry(call, args.value('server'));
    if (pattern.test(args.rest.join(' ')) && !args.has('dry-run', 'n') && !asksHelp(call))
      call.act('deny', 'supply-chain', 'publishes a package', release);
    if (call.name === 'cargo' && args.rest[0] === 'install' && args.has('git'))
      install(call, args.all('git'), false);
    return UNKNOWN;
  };
}
