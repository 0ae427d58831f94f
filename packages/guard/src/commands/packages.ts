import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { UNKNOWN } from '../marks.ts';
import { checkRegistry, install, installer, publisher, release } from './publishing.ts';
import { asksHelp, byName, denyLines, type LineRule } from './rules.ts';
import { checkVariable } from './variables.ts';

/** Commands of pnpm, yarn and bun themselves; any other word is a script or a program of the project. */
const ownCommand =
  /^(|add|audit|bin|build|cache|ci|config|create|dedupe|deploy|dlx|env|exec|fetch|get|global|import|in|info|init|ins|install|i|licenses|link|list|ll|login|logout|ls|node|npm|outdated|owner|pack|patch|plugin|pm|policies|prune|publish|rb|rebuild|remove|restart|rm|root|run|run-script|search|set|setup|start|stop|store|t|tag|team|test|tst|un|uninstall|unlink|unplug|up|update|upgrade|upgrade-interactive|version|versions|view|why|workspace|workspaces|x)$/;

const publishingRules: readonly LineRule[] = [
  [
    /^(npm )?(publish|unpublish|deprecate)( |$)/,
    'supply-chain',
    'publishes or takes back a package',
    release,
  ],
  [
    /^(login|adduser|add-user|token|owner|access|logout|team|org|hook)( (?!ls|list)|$)/,
    'supply-chain',
    'changes who may publish',
    release,
  ],
  [/^dist-tag (add|rm)\b/, 'supply-chain', 'changes what users install', release],
  [
    /^(uninstall|un|unlink|remove|rm|r)\b.* (ralphkit|cc-safety-net)(@|\s|$)/,
    'loop-state',
    'takes the guard away',
    'Leave it installed.',
  ],
];

const npm: Handler = (call) => {
  const long = 'registry prefix workspace call package tag access otp filter dir cwd script-shell';
  const args = readArgs(call.words, 'cwC', long);
  const [action = '', ...rest] = args.rest;
  checkRegistry(call, args.value('registry'));
  if (args.has('script-shell'))
    call.deny('environment', 'makes scripts run in another shell', 'Leave the shell as it is.');
  if (!args.has('dry-run') && !asksHelp(call)) denyLines(call, args.rest, publishingRules);
  if (/^(config|set)$/.test(action)) config(call, action === 'set' ? rest : rest.slice(1), rest[0] ?? '');
  if (/^(exec|x|dlx)$/.test(action))
    return npx(call.with({ words: call.words.slice(call.words.indexOf(action) + 1) }));
  if (action === 'pkg' && rest[0] === 'set') setFields(call, rest.slice(1));
  if (/^(run|run-script|test|start|stop|build)$/.test(action) || (call.name !== 'npm' && action !== '')) {
    const name = /^run/.test(action) ? (rest[0] ?? '') : action;
    for (const script of [`pre${name}`, name, `post${name}`]) ownScript(call, script);
  }
  if (/^(install|i|ci|add|in|ins|)$/.test(action)) ownRegistry(call);
  if (/^(install|i|ci|add|in|ins|)$/.test(action) && !args.has('ignore-scripts'))
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) ownScript(call, script);
  if (call.name !== 'npm' && !ownCommand.test(action)) call.run(call.words.slice(call.words.indexOf(action)));
  if (/^(install|i|add|in|ins|create|init)$/.test(action)) install(call, rest, args.has('g', 'global'));
};

function ownRegistry(call: Call): void {
  for (const file of ['.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml']) {
    const own = call.shell.world.files.get(call.path(file)) ?? '';
    for (const [, url] of own.matchAll(/\bregistry(?:Server)?"?\s*[=: ]\s*"?(https?:[^\s"]+)/gi))
      checkRegistry(call, url);
  }
}

function config(call: Call, words: readonly string[], action: string): void {
  const [name = '', value = ''] = words.length === 1 ? (words[0] ?? '').split('=') : words;
  if (action === 'get' && /authtoken|password/i.test(name))
    call.deny('credentials', 'prints the token of the registry', 'It need not be seen.');
  if (/registry(server)?$/i.test(name) && action !== 'get') checkRegistry(call, value);
  if (/^(script-shell|prefix|globalconfig|node-options)$/.test(name) && action !== 'get')
    call.deny('system-config', `changes ${name} for every project`, 'Set it for one call.');
  if (/authtoken|ignore-scripts|strict-ssl|cafile/i.test(name) && action !== 'get')
    call.deny('supply-chain', `changes ${name} for every project`, release);
}

/** `npm pkg set scripts.x=…` writes a script as an editor would. */
function setFields(call: Call, settings: readonly string[]): void {
  const own = call.shell.world.files.get(call.path('package.json')) ?? '';
  const added = settings.flatMap((setting) => {
    const [, name, command] = /^scripts\.([\w:-]+)=(.*)$/s.exec(setting) ?? [];
    return name === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(command)}`];
  });
  call.keep('package.json', [...added, own].join('\n'));
}

function ownScript(call: Call, name: string): void {
  const own = call.shell.world.files.get(call.path('package.json'));
  if (own === undefined) return;
  const [, command] =
    new RegExp(`"${name.replace(/[^\w:-]/g, '')}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(own) ?? [];
  if (command) call.script(command.replace(/\\(.)/g, '$1'));
}

const npx: Handler = (call) => {
  const args = readLeadingArgs(call.words, 'cpw', 'call package workspace');
  for (const command of args.all('c', 'call')) call.script(command);
  const [program = '', ...rest] = args.rest;
  install(call, [program, ...args.all('p', 'package')], false);
  return program === '' ? UNKNOWN : call.run([program.replace(/(.)@[^/]*$/, '$1'), ...rest]);
};

const pip: Handler = (call) => {
  const long =
    'index-url extra-index-url find-links requirement target trusted-host constraint index default-index';
  const args = readArgs(call.words, 'ireftd', long);
  for (const url of args.all('i', 'index-url', 'extra-index-url', 'index', 'default-index'))
    checkRegistry(call, url);
  install(call, args.all('r', 'requirement'), false);
  for (const url of args.all('f', 'find-links')) if (/^https?:/.test(url)) checkRegistry(call, url);
  const [action = '', ...rest] = args.rest;
  if (action === 'install' || action === 'add') {
    install(call, rest, false);
    if (args.has('break-system-packages'))
      call.warn('system-config', 'installs over packages of the system', 'Use a virtual environment.');
  }
  if (action === 'config' && rest[0] === 'set')
    checkRegistry(call, /index/.test(rest[1] ?? '') ? rest[2] : undefined);
  if (action === 'publish') call.deny('supply-chain', 'publishes a package', release);
};

function runner(words: RegExp, then?: Handler): Handler {
  return (call) => {
    const args = readLeadingArgs(call.words, 'pC', 'python with project directory extra group');
    const [action = '', ...rest] = args.rest;
    if (words.test(action)) {
      const given = readLeadingArgs(rest, 'p', 'with from python extra group spec');
      const inner =
        action === 'tool' && /^(run|install)$/.test(given.rest[0] ?? '') ? given.rest.slice(1) : given.rest;
      install(call, [...given.all('with', 'from', 'spec'), ...inner.slice(0, 1)], false);
      return inner.length === 0 ? UNKNOWN : call.run(inner);
    }
    if (!then) return UNKNOWN;
    const options = call.words.filter((word) => word.startsWith('-') && !args.rest.includes(word));
    return then(call.with({ words: action === 'pip' ? rest : [...args.rest, ...options] }));
  };
}

export const packages: Handlers = byName({
  'npm pnpm yarn': npm,
  bun: (call) => {
    const [action = '', file] = call.words;
    return /^(-e|--eval|-p|--print|-)$/.test(action) ||
      (action === 'run' && /^(-$|https?:)/.test(file ?? '')) ||
      /\.[cm]?[jt]sx?$/.test(action)
      ? call.run(['node', ...(action === 'run' ? call.words.slice(1) : call.words)])
      : npm(call);
  },
  'npx pnpx bunx': npx,
  'pip pip3': pip,
  pipx: runner(/^run$/, pip),
  uv: runner(/^(run|tool)$/, pip),
  uvx: (call) => {
    const args = readLeadingArgs(call.words, 'p', 'from with python');
    install(call, [...args.all('from', 'with'), ...args.rest.slice(0, 1)], false);
    return args.rest.length === 0 ? UNKNOWN : call.run(args.rest);
  },
  'poetry pdm hatch rye': runner(/^run$/, publisher(/^publish\b/)),
  pipenv: runner(/^run$/),
  'conda mamba micromamba': (call) => {
    for (const channel of readArgs(call.words, 'cn', 'channel name').all('c', 'channel'))
      if (/^https?:/.test(channel)) checkRegistry(call, channel);
    return runner(/^run$/)(call);
  },
  'bundle bundler': runner(/^exec$/, installer),
  mise: runner(/^(exec|x)$/),
  asdf: runner(/^exec$/),
  nix: runner(/^(shell|develop)$/),
  go: (call) => {
    const [action = '', ...settings] = call.words;
    if (action === 'run') return call.run(['go:run', ...settings]);
    if (action === 'env' && settings.includes('-w'))
      for (const setting of settings) {
        const [name = '', ...value] = setting.split('=');
        checkVariable(name, value.join('='), call);
      }
  },
});
