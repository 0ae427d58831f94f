import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, win32 } from 'node:path';
import { isWithin, realPath } from '../files/real-path.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** How the operating system is asked to start a command; `verbatim` words are not quoted again on Windows. */
export type StartCommand = { readonly file: string; readonly args: string[]; readonly verbatim: boolean };

/** A command line of the user's own, for the shell of the platform. */
export function shellCommand(command: string, platform = process.platform): [string, ...string[]] {
  return platform === 'win32' ? ['cmd', '/d', '/s', '/c', command] : ['sh', '-c', command];
}

/** Where a program is: a name is looked up in PATH, a path is taken as it is; null unless it can be run. */
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

/** For programs that are to be ours: what a folder has on the PATH is left out, since an agent can write there. */
export function outsideEnvironment(env: Environment, folder: string): Environment {
  const root = realPath(folder);
  const name = Object.keys(env).find((each) => each.toUpperCase() === 'PATH');
  if (name === undefined) return env;
  const kept = (env[name] ?? '')
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isWithin(realPath(entry), root));
  // An empty PATH would be the folder itself.
  return { ...env, [name]: kept.join(delimiter) || '/usr/bin:/bin' };
}

/**
 * Words as Windows needs them. A batch file, which is what npm installs, runs only through cmd.exe, and cmd.exe reads
 * its words by rules of its own; `cmd /c` takes a command line as it stands.
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

/** Inside quotes only `%` and the quote itself have a meaning for cmd.exe; `%cd:~,%` expands to nothing. */
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

/** Names of variables have no case on Windows: it is usually `Path`. */
function variable(env: Environment, name: string, fallback: string): string {
  const key = Object.keys(env).find((other) => other.toUpperCase() === name);
  return (key === undefined ? undefined : env[key]) ?? fallback;
}

function canRun(file: string, windows: boolean): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    if (!windows) accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
