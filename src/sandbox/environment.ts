import { agents } from '../agents/registry.ts';
import { quoteWord } from '../core/words.ts';
import type { Argv, Environment } from '../os/process/process.ts';

/** Variables that every program may have; none of them is a key or a token. */
const harmless = [
  ...['TZ', 'LANG', 'LANGUAGE', 'LC_*', 'TERM', 'COLORTERM', 'COLUMNS', 'LINES', 'NO_COLOR', 'FORCE_COLOR'],
  ...['CI', 'PAGER', 'NODE_ENV', 'GOTOOLCHAIN', 'RUSTUP_TOOLCHAIN'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'],
  ...['RALPH_RUN_ID', 'RALPH_ITERATION', 'RALPH_TREE', 'RALPH_GUARD', 'RALPH_FAKE_SCRIPT'],
];
/** Variables about this machine; another one has its own. */
const harmlessHere = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE'],
  ...['NVM_DIR', 'NVM_BIN', 'VOLTA_HOME', 'PYENV_ROOT', 'RUSTUP_HOME', 'SDKMAN_DIR', 'JAVA_HOME', 'GOROOT'],
  ...['ANDROID_HOME', 'DOTNET_ROOT', 'VIRTUAL_ENV', 'CONDA_PREFIX'],
];

/** Variables that would lead out of the private home. */
const moving = Object.values(agents).flatMap(({ sandbox }) => Object.keys(sandbox.moves));

/** Returns the variables that pass; `also` has names and `PREFIX_*`. */
export function passVariables(env: Environment, also: readonly string[]): Record<string, string> {
  return select(env, [...harmless, ...harmlessHere, ...also]);
}

/** Returns the names of variables that pass to another machine. */
export function namesToPass(env: Environment, also: readonly string[]): string[] {
  return Object.keys(select(env, [...harmless, ...also]));
}

/** Returns the variables that the command alone gets, without those that would lead out of the private home. */
export function variablesInside(alone: Environment): Record<string, string> {
  return select(alone, ['*']);
}

/**
 * Hides the variables of a command from the client that starts it elsewhere: the client has them under names that mean
 * nothing to it, and `argv` gives them their own names there. No command line has their values.
 */
export function hideVariables(
  argv: Argv,
  alone: Environment,
): { readonly argv: Argv; readonly env: Record<string, string>; readonly names: readonly string[] } {
  const entries = Object.entries(variablesInside(alone));
  const env = Object.fromEntries(entries.map(([, value], index) => [`RALPH_VARIABLE_${index}`, value]));
  const names = Object.keys(env);
  if (names.length === 0) return { argv, env, names };
  const words = entries.map(([name], index) => `${quoteWord(name)}="$RALPH_VARIABLE_${index}"`);
  return { argv: ['sh', '-c', `exec env ${words.join(' ')} "$@"`, 'sh', ...argv], env, names };
}

function select(env: Environment, patterns: readonly string[]): Record<string, string> {
  const names = new Set(patterns.filter((name) => !name.endsWith('*')));
  const prefixes = patterns.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const passes = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  const passing = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && passes(entry[0]) && !moving.includes(entry[0]),
  );
  return Object.fromEntries(passing);
}

/** Returns variables that name the proxy; the loopback inside is reached without it. */
export function proxyVariables(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const variables = {
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: 'localhost,127.0.0.1,::1',
  };
  const capitals = Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]);
  // Node.js looks at these variables only when it is told to (since 22.21 and 24.5).
  return { ...Object.fromEntries(capitals), ...variables, NODE_USE_ENV_PROXY: '1' };
}
