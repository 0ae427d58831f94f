import type { Call } from '../call.ts';
import { feed } from '../feed.ts';
import { UNKNOWN } from '../marks.ts';
import { isProjectFile, zoneOf } from '../zones.ts';
import { useSetting } from './git-settings.ts';

const loaded =
  /^(LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PROMPT_COMMAND|PERL5OPT|RUBYOPT|PYTHONSTARTUP|DOTNET_STARTUP_HOOKS)$/;
const libraries =
  /^(LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|PYTHONHOME|GCONV_PATH)$/;
const registryVariable =
  /^(NPM_CONFIG_REGISTRY|npm_config_registry|YARN_NPM_REGISTRY_SERVER|YARN_REGISTRY|BUN_CONFIG_REGISTRY|PIP_(EXTRA_)?INDEX_URL|UV_((EXTRA_)?INDEX_URL|INDEX|DEFAULT_INDEX)|GOPROXY)$/;
const route =
  /^(https?_proxy|all_proxy|HTTPS?_PROXY|ALL_PROXY|(ANTHROPIC|OPENAI|GEMINI|GOOGLE_GEMINI)_(BASE_URL|API_BASE))$/;
const commands =
  /^(\w*(PAGER|EDITOR|BROWSER|ASKPASS)|VISUAL|GIT_EXTERNAL_DIFF|GIT_SSH_COMMAND|GIT_SSH|GIT_PROXY_COMMAND|LESSOPEN|LESSCLOSE|FCEDIT|RSYNC_RSH|CC|CXX|LD|(CARGO_BUILD_)?RUSTC(_WORKSPACE)?(_WRAPPER)?|FZF_DEFAULT_COMMAND|npm_config_script_shell|NPM_CONFIG_SCRIPT_SHELL)$/;

/** A variable that other programs obey can make them run something else. */
export function checkVariable(name: string, value: string, call: Call): void {
  if (value === '' || value === UNKNOWN) return;
  const what = hijack(name, value, call);
  const instead = `Leave ${name} as it is and call the program by its path.`;
  if (what !== null) call.deny('environment', what, instead);
  if (registryVariable.test(name) && !isKnownRegistry(value)) {
    call.deny('supply-chain', `takes packages from ${value}`, 'Use the registry of the project.');
  }
  if (/^PS[0124]$/.test(name) && /\$\(|`/.test(value))
    call.script(`: "${value.replaceAll('"', '\\"')}"`, { stdin: null });
  const [, number] = /^GIT_CONFIG_VALUE_(\d+)$/.exec(name) ?? [];
  const key = `GIT_CONFIG_KEY_${number}`;
  if (number !== undefined)
    useSetting(call, `${call.env.get(key) ?? call.shell.variables.get(key)?.items[0]}=${value}`, false);
  if (name === 'GIT_CONFIG_PARAMETERS')
    for (const [, setting = ''] of value.matchAll(/'([^']*)'/g)) useSetting(call, setting, false);
  if (name === 'TAR_OPTIONS') call.script(`tar ${value}`, { stdin: null });
  if (name === 'MAKEFLAGS' && value.includes('--eval')) call.run(['make', value]);
  const command = commandIn(name, value);
  if (command !== undefined) feed(call, command, (text) => call.script(text, { stdin: null }));
}

function commandIn(name: string, value: string): string | undefined {
  if (name === 'GOFLAGS') return /-toolexec=(\S+)/.exec(value)?.[1];
  return commands.test(name) ? value : undefined;
}

function hijack(name: string, value: string, call: Call): string | null {
  if (loaded.test(name)) return `${name} loads code into every program`;
  if (name === 'PATH' || libraries.test(name)) {
    // A library of the project may well lie where the program starts.
    const foreign = value
      .split(':')
      .some((folder) => isForeign(folder, call) && (folder !== '.' || name === 'PATH'));
    return foreign ? `${name} puts a folder that anybody can write in front` : null;
  }
  if (/^(BASH_ENV|ENV|ZDOTDIR)$/.test(name)) {
    const outside = value.includes('/') && !isProjectFile(call.path(value), call.context);
    return outside ? `${name} makes every shell run ${value}` : null;
  }
  if (/_(OPTS|OPTIONS)$/.test(name) && /-(javaagent|agentpath|agentlib):/.test(value))
    return `${name} loads code into every program`;
  if (/^(NODE_OPTIONS|npm_config_node_options)$/.test(name)) {
    const module = /(?:--require|--import|--(?:experimental-)?loader|-r)[= ](\S+)/.exec(value)?.[1];
    return /^(\/|data:|https?:)/.test(module ?? '') && !isProjectFile(module ?? '', call.context)
      ? `${name} loads ${module} into every node`
      : null;
  }
  if (route.test(name)) {
    const local = /^(\w+:\/\/)?([^@/]*@)?(localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(value);
    return local || call.context.env[name] === value ? null : `${name} leads through ${value}`;
  }
  if (name === 'RALPH_GUARD' && /^(off|auto)$/.test(value)) return 'RALPH_GUARD turns the guard off';
  if (/^GIT_CONFIG_(GLOBAL|SYSTEM)$/.test(name))
    return isForeign(value, call) ? `${name} takes settings from ${value}` : null;
  if (name === 'GIT_SSL_NO_VERIFY' && !/^(0|false|no|off)$/i.test(value)) return 'makes git trust any server';
  if (isForeign(commandIn(name, value)?.split(' ')[0] ?? '', call))
    return `${name} makes others run ${value}`;
  if (name.startsWith('GIT_SSH') && !/^\S*\bssh(\s|$)/.test(value)) return `${name} makes git run ${value}`;
  return null;
}

function isForeign(folder: string, call: Call): boolean {
  if (folder === '.' || folder === '') return folder === '.';
  if (!folder.startsWith('/')) return false;
  const zone = zoneOf(folder, call.context);
  return zone === 'temporary' || zone === 'temporary-root' || zone === 'device';
}

const registries =
  /^https?:\/\/([\w.-]+\.)?(npmjs\.(org|com)|yarnpkg\.com|pypi\.org|pythonhosted\.org|pytorch\.org|github\.com|pkg\.dev|gitlab\.com|jsr\.io|crates\.io|rubygems\.org|nvidia\.com|golang\.org|goproxy\.io|azure\.com|amazonaws\.com|jfrog\.io)(:\d+)?(\/|$)|^https?:\/\/(localhost|127\.|\[::1\])/;

export function isKnownRegistry(url: string): boolean {
  return /^(\$|direct$|off$)/.test(url) || url.includes(UNKNOWN) || registries.test(url);
}
