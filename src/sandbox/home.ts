import { dirname, join } from 'node:path';
import type { SandboxNeeds } from '../agents/agent.ts';
import { isObject } from '../core/json.ts';
import {
  ensureDir,
  isRealDir,
  lstatOf,
  readText,
  reclaimDir,
  removeIfThere,
  writeAtomic,
} from '../os/files/files.ts';
import { realPath } from '../os/files/real-path.ts';
import { type Environment, runCommand } from '../os/process/process.ts';
import { homeOf } from './folders.ts';

/** The home that an agent has inside. It lasts from run to run, and nothing in it is the user's own file. */
export type PrivateHome = {
  readonly folder: string;
  /** Copies the agent's settings and logins in, as they are now. */
  fill(): Promise<void>;
  /** Gives a login back that was renewed inside: the old one may be worth nothing any more. */
  giveBack(): void;
};

const maxBytes = 4 * 1024 * 1024;

/** Folders that a variable moves elsewhere; inside they are where they always are, and the variables do not pass. */
const moved = { XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share' };

export function createPrivateHome(folder: string, env: Environment, needs: SandboxNeeds): PrivateHome {
  const given = new Map<string, string>();
  const sourceOf = (name: string) => sourcePath(name, env, { ...moved, ...needs.moves });
  return {
    folder,
    async fill() {
      ensureDir(folder);
      for (const name of [...needs.settings, ...needs.logins]) {
        const text = readOwn(sourceOf(name));
        if (text === null) continue;
        put(folder, name, text);
        if (needs.logins.includes(name)) given.set(name, text);
      }
      put(folder, '.gitconfig', await gitSettings(env));
    },
    giveBack() {
      for (const [name, before] of given) {
        const source = sourceOf(name);
        const inside = isRealDir(dirname(join(folder, name)), folder) ? read(join(folder, name)) : null;
        // Somebody may have logged in anew outside; that counts more.
        if (inside === null || inside === before || readOwn(source) !== before) continue;
        if (!renews(before, inside)) continue;
        // Some keep such files elsewhere and have links to them.
        writeAtomic(realPath(source), inside);
        given.set(name, inside);
      }
    },
  };
}

function sourcePath(name: string, env: Environment, moves: SandboxNeeds['moves']): string {
  for (const [variable, folder] of Object.entries(moves)) {
    const elsewhere = env[variable];
    if (elsewhere && folder !== null && name.startsWith(`${folder}/`))
      return join(elsewhere, name.slice(folder.length + 1));
  }
  return join(homeOf(env), name);
}

/** The agent was at home here: what it put in the way, links above all, is set aside. */
function put(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  reclaimDir(dirname(path), folder);
  if (lstatOf(path)?.isSymbolicLink()) removeIfThere(path);
  writeAtomic(path, text, { root: folder, fsync: false });
}

/** A file of the user's. */
function readOwn(path: string): string | null {
  try {
    return readText(path, { maxBytes });
  } catch {
    return null;
  }
}

/** A file of the agent's, which must be no way to one of the user's. */
function read(path: string): string | null {
  return lstatOf(path)?.isFile() ? readOwn(path) : null;
}

/** Whether only tokens and their times differ: nothing is added, taken away or of another kind. */
export function renews(before: string, after: string): boolean {
  try {
    return sameShape(JSON.parse(before), JSON.parse(after));
  } catch {
    return false;
  }
}

function sameShape(before: unknown, after: unknown, name = ''): boolean {
  if (isObject(before) && isObject(after)) {
    const names = Object.keys(before);
    if (names.length !== Object.keys(after).length) return false;
    return names.every((key) => Object.hasOwn(after, key) && sameShape(before[key], after[key], key));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return true;
  return (
    typeof before === typeof after &&
    typeof before !== 'object' &&
    /token|expir|refresh|^(access|key)$/i.test(name)
  );
}

/** Settings of git that neither hold secrets nor need something from outside. */
const gitKeys =
  /^(user\.(name|email)|init\.|core\.(autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|abbrev|whitespace)|(pull|push|fetch|merge|rebase|diff|color|column|branch|log|status|advice|filter|lfs|alias|safe)\.)/;

async function gitSettings(env: Environment): Promise<string> {
  const { stdout, exitCode } = await runCommand(['git', 'config', '--global', '--includes', '--list', '-z'], {
    cwd: '/',
    env,
  });
  const entries = exitCode === 0 ? stdout.split('\0').filter((entry) => entry.includes('\n')) : [];
  const lines = entries.flatMap((entry) => {
    const key = entry.slice(0, entry.indexOf('\n'));
    const value = entry.slice(key.length + 1);
    return gitKeys.test(key) && !value.includes('://') ? [gitLine(key, value)] : [];
  });
  // The keys that sign are not there.
  return [...lines, '[commit]\n\tgpgsign = false', '[tag]\n\tgpgsign = false', ''].join('\n');
}

function gitLine(key: string, value: string): string {
  const [section = '', ...rest] = key.split('.');
  const name = rest.pop() ?? '';
  const below = rest.length === 0 ? '' : ` "${escaped(rest.join('.'))}"`;
  return `[${section}${below}]\n\t${name} = "${escaped(value)}"`;
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
