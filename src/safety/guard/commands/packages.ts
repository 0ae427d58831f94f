import { readArgs } from '../argv.ts';
import { NETWORK, shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { checkVariable, isKnownRegistry } from './variables.ts';

const release = 'Leave releases to a person or to CI.';

function checkRegistry(call: Call, url: string | undefined): void {
  if (url !== undefined && !isKnownRegistry(url))
    call.act('deny', 'supply-chain', `takes packages from ${shown(url)}`, 'Use the registry of the project.');
}

const npm: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'cwC',
    long: [
      'registry',
      'prefix',
      'workspace',
      'call',
      'package',
      'tag',
      'access',
      'otp',
      'filter',
      'dir',
      'cwd',
    ],
  });
  const [action = '', ...rest] = args.rest;
  checkRegistry(call, args.value('registry'));
  const dry = args.has('dry-run');
  if (/^(publish|unpublish|deprecate)$/.test(action) && !dry)
    call.act('deny', 'supply-chain', `${action}es a package`, release);
  if (action === 'npm' && /^(publish)$/.test(rest[0] ?? '') && !dry)
    call.act('deny', 'supply-chain', 'publishes a package', release);
  if (
    /^(login|adduser|add-user|token|owner|access|logout|team|org|hook)$/.test(action) &&
    !/^(ls|list)$/.test(rest[0] ?? '')
  )
    call.act('deny', 'supply-chain', 'changes who may publish', release);
  if (action === 'dist-tag' && /^(add|rm)$/.test(rest[0] ?? ''))
    call.act('deny', 'supply-chain', 'changes what users install', release);
  if (/^(config|set)$/.test(action)) config(call, action === 'set' ? rest : rest.slice(1), rest[0] ?? '');
  if (/^(exec|x|dlx)$/.test(action))
    return npx(call.with({ words: call.words.slice(call.words.indexOf(action) + 1) }));
  if (action === 'pkg' && rest[0] === 'set') setFields(call, rest.slice(1));
  if (/^(run|run-script|test|start|stop|build)$/.test(action) || (call.name !== 'npm' && action !== '')) {
    const name = /^run/.test(action) ? (rest[0] ?? '') : action;
    for (const script of [`pre${name}`, name, `post${name}`]) ownScript(call, script);
  }
  if (/^(install|i|ci|add|in|ins|)$/.test(action) && !args.has('ignore-scripts'))
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) ownScript(call, script);
  if (/^(install|i|add|in|ins|create|init)$/.test(action)) install(call, rest, args.has('g', 'global'));
  return UNKNOWN;
};

function config(call: Call, words: readonly string[], action: string): void {
  const [name = '', value = ''] = words.length === 1 ? (words[0] ?? '').split('=') : words;
  if (action === 'get' && /authtoken|password/i.test(name))
    call.act('deny', 'credentials', 'prints the token of the registry', 'It need not be seen.');
  if (name === 'registry' && action !== 'get') checkRegistry(call, value);
  if (/^(script-shell|prefix|globalconfig|node-options)$/.test(name) && action !== 'get')
    call.act('deny', 'system-config', `changes ${name} for every project`, 'Set it for one call.');
  if (/authtoken|ignore-scripts|strict-ssl|cafile/i.test(name) && action !== 'get')
    call.act('deny', 'supply-chain', `changes ${name} for every project`, release);
}

function install(call: Call, packages: readonly string[], everywhere: boolean): void {
  for (const name of packages) {
    const [, host] = /^(?:git\+)?(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)/.exec(name) ?? [];
    if (host && !/(^|\.)(github\.com|gitlab\.com|bitbucket\.org|npmjs\.org|localhost)$/.test(host))
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

/** `npm pkg set scripts.x=…` writes a script as an editor would. */
function setFields(call: Call, settings: readonly string[]): void {
  const own = call.shell.world.files.get(call.path('package.json')) ?? '';
  const added = settings.flatMap((setting) => {
    const [, name, command] = /^scripts\.([\w:-]+)=(.*)$/s.exec(setting) ?? [];
    return name === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(command)}`];
  });
  call.keep('package.json', [...added, own].join('\n'));
}

/** A script of a package.json that the command itself has just written. */
function ownScript(call: Call, name: string): void {
  const own = call.shell.world.files.get(call.path('package.json'));
  if (own === undefined) return;
  const [, command] =
    new RegExp(`"${name.replace(/[^\w:-]/g, '')}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(own) ?? [];
  if (command) call.script(command.replace(/\\(.)/g, '$1'));
}

const npx: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'cpw', long: ['call', 'package', 'workspace'], stop: true });
  for (const command of args.all('c', 'call')) call.script(command);
  const [program = '', ...rest] = args.rest;
  install(call, [program, ...args.all('p', 'package')], false);
  return program === '' ? UNKNOWN : call.run([program.replace(/(.)@[^/]*$/, '$1'), ...rest]);
};

const pip: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'ireftd',
    long: [
      'index-url',
      'extra-index-url',
      'find-links',
      'requirement',
      'target',
      'trusted-host',
      'constraint',
      'index',
      'default-index',
    ],
  });
  for (const url of args.all('i', 'index-url', 'extra-index-url', 'index', 'default-index'))
    checkRegistry(call, url);
  const [action = '', ...rest] = args.rest;
  if (action === 'install' || action === 'add') {
    for (const name of rest) {
      const [, host] = /^(?:\w+ @ )?(?:git\+)?https?:\/\/(?:[^@/]*@)?([^/:]+)/.exec(name) ?? [];
      if (host && !/(^|\.)(github\.com|gitlab\.com|pypi\.org|pythonhosted\.org|localhost)$/.test(host))
        call.act(
          'deny',
          'supply-chain',
          `installs code from ${host}`,
          'Install a released version from the registry.',
        );
    }
    if (args.has('break-system-packages'))
      call.act('warn', 'system-config', 'installs over packages of the system', 'Use a virtual environment.');
  }
  if (action === 'config' && rest[0] === 'set')
    checkRegistry(call, /index/.test(rest[1] ?? '') ? rest[2] : undefined);
  if (action === 'publish') call.act('deny', 'supply-chain', 'publishes a package', release);
  return UNKNOWN;
};

/** `uv run x`, `poetry run x` and their kind. */
function runner(words: RegExp, then?: Handler): Handler {
  return (call) => {
    const args = readArgs(call.words, {
      letters: 'pC',
      long: ['python', 'with', 'project', 'directory', 'extra', 'group'],
      stop: true,
    });
    const [action = '', ...rest] = args.rest;
    if (words.test(action)) {
      const inner = readArgs(rest, {
        letters: 'p',
        long: ['with', 'from', 'python', 'extra', 'group'],
        stop: true,
      }).rest;
      return inner.length === 0 ? UNKNOWN : call.run(inner);
    }
    return then
      ? then(
          call.with({
            words:
              args.rest[0] === 'pip'
                ? rest
                : args.rest.concat(
                    call.words.filter((word) => word.startsWith('-') && !args.rest.includes(word)),
                  ),
          }),
        )
      : UNKNOWN;
  };
}

function publisher(pattern: RegExp): Handler {
  return (call) => {
    const args = readArgs(call.words, {
      letters: 'Cp',
      long: ['manifest-path', 'registry', 'index', 'repository', 'repository-url', 'git', 'source'],
    });
    if (call.name === 'gem') checkRegistry(call, args.value('source'));
    if (pattern.test(args.rest.join(' ')) && !args.has('dry-run', 'n'))
      call.act('deny', 'supply-chain', 'publishes a package', release);
    if (call.name === 'cargo' && args.rest[0] === 'install' && args.has('git'))
      install(call, args.all('git'), false);
    return UNKNOWN;
  };
}

const systemPackages: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'oct' });
  const [action = ''] = args.rest;
  if (
    /^(remove|purge|autoremove|erase|uninstall|full-upgrade|dist-upgrade|-R.*)$/.test(action) ||
    call.words.some((word) => /^-R/.test(word) && call.name === 'pacman')
  ) {
    call.act('deny', 'system-config', 'removes packages of the system', 'Leave the system as it is.');
  }
  const removes = call.words.some((word) => /^(-r|-P|--remove|--purge|-e|--erase)$/.test(word));
  if (removes && /^(dpkg|rpm)$/.test(call.name))
    call.act('deny', 'system-config', 'removes packages of the system', 'Leave the system as it is.');
  for (const path of args.rest)
    if (/^https?:/.test(path) || (/\.(deb|rpm|apk)$/.test(path) && call.content(path).includes(NETWORK)))
      call.act('deny', 'supply-chain', `installs ${shown(path)}`, 'Install from the packages of the system.');
  return UNKNOWN;
};

export const packages: Handlers = {
  npm,
  pnpm: npm,
  yarn: npm,
  bun: (call) =>
    /^-(e|p|-eval|-print)$/.test(call.words[0] ?? '') ? call.run(['node', ...call.words]) : npm(call),
  npx,
  pnpx: npx,
  bunx: npx,
  pip,
  pip3: pip,
  pipx: runner(/^run$/, pip),
  uv: runner(/^(run|tool)$/, pip),
  uvx: (call) => call.run(readArgs(call.words, { long: ['from', 'with'], stop: true }).rest),
  poetry: runner(/^run$/, publisher(/^publish\b/)),
  pipenv: runner(/^run$/),
  pdm: runner(/^run$/, publisher(/^publish\b/)),
  hatch: runner(/^run$/, publisher(/^publish\b/)),
  rye: runner(/^run$/, publisher(/^publish\b/)),
  conda: runner(/^run$/),
  bundle: runner(/^exec$/),
  bundler: runner(/^exec$/),
  mise: runner(/^(exec|x)$/),
  asdf: runner(/^exec$/),
  nix: runner(/^(shell|develop)$/),
  cargo: publisher(/^(publish|yank|owner|login)\b/),
  gem: publisher(/^(push|yank|owner)\b/),
  twine: publisher(/^upload\b/),
  flit: publisher(/^publish\b/),
  mvn: publisher(/\bdeploy\b/),
  gradle: publisher(/\bpublish\w*\b/),
  dotnet: publisher(/^nuget (push|delete)\b/),
  vsce: publisher(/^(publish|unpublish)\b/),
  ovsx: publisher(/^publish\b/),
  lerna: publisher(/^publish\b/),
  changeset: publisher(/^publish\b/),
  'semantic-release': (call) =>
    readArgs(call.words).has('dry-run') || call.words.includes('--dry-run')
      ? UNKNOWN
      : call.act('deny', 'supply-chain', 'publishes a release', release),
  np: (call) => call.act('deny', 'supply-chain', 'publishes a package', release),
  pod: publisher(/^trunk push\b/),
  helm: (call) =>
    /^(uninstall|delete|rollback)$/.test(call.words[0] ?? '')
      ? call.act('deny', 'cloud', 'removes a deployment', 'Leave it to a person.')
      : publisher(/^push\b/)(call),
  apt: systemPackages,
  'apt-get': systemPackages,
  dpkg: systemPackages,
  rpm: systemPackages,
  go: (call) => {
    const [action = '', ...settings] = call.words;
    if (action === 'run') return call.run(['go run', ...settings.filter((path) => path.endsWith('.go'))]);
    if (action === 'env' && settings.includes('-w'))
      for (const setting of settings) {
        const [name = '', ...value] = setting.split('=');
        checkVariable(name, value.join('='), call);
      }
    return UNKNOWN;
  },
  dnf: systemPackages,
  yum: systemPackages,
  pacman: systemPackages,
  apk: systemPackages,
};
