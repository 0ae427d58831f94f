import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, win32 } from 'node:path';
import { attempt } from '../attempt.ts';
import { isWithin, realPath } from '../files/real-path.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Arguments for the operating system; `verbatim` ones are not quoted again on Windows. */
export type StartCommand = { readonly file: string; readonly args: string[]; readonly verbatim: boolean };

/** Returns the call that runs the user's command line in the shell of the platform. */
export function shellCommand(command: string, platform = process.platform): [string, ...string[]] {
  return platform === 'win32' ? ['cmd', '/d', '/s', '/c', command] : ['sh', '-c', command];
}

/** Returns the path of a program: looks a name up in PATH, takes a path as it is. Null unless it can be run. */
export function findProgram(name: string, env: Environment, platform = process.platform): string | null {
  const windows = platform === 'win32';
  const endings = windows ? windowsEndings(name, env) : [''];
  const isPath = windows ? /[\\/:]/.test(name) : name.includes('/');
  for (const folder of isPath ? [''] : searchPath(env, windows)) {
    const program = endings
      .map((ending) => join(folder, name) + ending)
      .find((file) => canRun(file, windows));
    if (program !== undefined) return isPath && !windows ? name : program;
  }
  return null;
}

/** Removes entries below `folder` from PATH, because an agent can write programs there. */
export function outsideEnvironment(env: Environment, folder: string): Environment {
  const root = realPath(folder);
  const name = Object.keys(env).find((each) => each.toUpperCase() === 'PATH');
  if (name === undefined) return env;
  const entries = (env[name] ?? '')
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isWithin(realPath(entry), root));
  // An empty PATH would be the folder itself.
  return { ...env, [name]: entries.join(delimiter) || '/usr/bin:/bin' };
}

/** Variables that make a loader or an interpreter run more than it was asked to. */
const loaderVariables =
  /^(LD_|DYLD_|BASH_ENV$|ENV$|NODE_OPTIONS$|NODE_PATH$|PYTHON(HOME|PATH|STARTUP)$|PERL5(LIB|OPT|DB)$|RUBY(LIB|OPT)$|JAVA_TOOL_OPTIONS$)/;

/** The same, and without variables by which a program runs files of others, for programs that tell the user something. */
export function cleanEnvironment(env: Environment, folder: string): Environment {
  const names = Object.entries(outsideEnvironment(env, folder));
  return Object.fromEntries(names.filter(([name]) => !loaderVariables.test(name)));
}

/**
 * Returns the arguments for Windows. A batch file, which is what npm installs, runs only through cmd.exe, which reads
 * its arguments by rules of its own; `cmd /c` takes a command line literally.
 */
export function windowsCommand(program: string, args: readonly string[]): StartCommand {
  if (/^cmd(\.exe)?$/i.test(win32.basename(program)) && args[2] === '/c') {
    return { file: program, args: ['/d', '/s', '/c', `"${args.slice(3).join(' ')}"`], verbatim: true };
  }
  if (!/\.(cmd|bat)$/i.test(program)) return { file: program, args: [...args], verbatim: false };
  const words = [program, ...args].map(batchWord);
  return {
    file: 'cmd.exe',
    args: ['/e:on', '/v:off', '/d', '/s', '/c', `"${words.join(' ')}"`],
    verbatim: true,
  };
}

/** Escapes `%` and quotes, the only special characters of cmd.exe inside quotes; `%cd:~,%` expands to nothing. */
function batchWord(word: string): string {
  if (/[\r\n\0]/.test(word)) throw new Error('a line break cannot be passed to a batch file on Windows');
  const escaped = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replaceAll('%', '%%cd:~,%');
  return `"${escaped}"`;
}

function searchPath(env: Environment, windows: boolean): string[] {
  if (!windows) return (env.PATH ?? '/usr/bin:/bin').split(':').map((folder) => folder || '.');
  return ['.', ...variable(env, 'PATH', '').split(';').filter(Boolean)];
}

function windowsEndings(name: string, env: Environment): string[] {
  const endings = variable(env, 'PATHEXT', '.COM;.EXE;.BAT;.CMD').toLowerCase().split(';').filter(Boolean);
  return endings.includes(win32.extname(name).toLowerCase()) ? [''] : endings;
}

/** Looks up a variable by its name in any case, as Windows does: it is usually `Path`. */
function variable(env: Environment, name: string, fallback: string): string {
  const key = Object.keys(env).find((other) => other.toUpperCase() === name);
  return (key === undefined ? undefined : env[key]) ?? fallback;
}

function canRun(file: string, windows: boolean): boolean {
  return attempt(() => {
    if (!windows) accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}
