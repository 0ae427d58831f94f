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

/** Home of the agent inside. It lasts from run to run and holds only copies. */
export type PrivateHome = {
  readonly folder: string;
  /** Copies the agent's current settings and logins in. */
  fill(): Promise<void>;
  /** Copies a login back that was renewed inside: the old one may be invalid now. */
  giveBack(): void;
};

const maxBytes = 4 * 1024 * 1024;

/** Folders that a variable moves elsewhere. Inside they are at their usual place, and the variables do not pass. */
const movedFolders = { XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share' };

export function createPrivateHome(folder: string, env: Environment, needs: SandboxNeeds): PrivateHome {
  const logins = new Map<string, string>();
  const sourceOf = (name: string) => sourcePath(name, env, { ...movedFolders, ...needs.moves });
  return {
    folder,
    async fill() {
      ensureDir(folder);
      for (const name of [...needs.settings, ...needs.logins]) {
        const text = readOwn(sourceOf(name));
        if (text === null) continue;
        copyIn(folder, name, text);
        if (needs.logins.includes(name)) logins.set(name, text);
      }
      copyIn(folder, '.gitconfig', await gitSettings(env));
    },
    giveBack() {
      for (const [name, before] of logins) {
        const source = sourceOf(name);
        const inside = isRealDir(dirname(join(folder, name)), folder)
          ? readForeign(join(folder, name))
          : null;
        // A new login outside counts more.
        if (inside === null || inside === before || readOwn(source) !== before) continue;
        if (!renews(before, inside)) continue;
        // The file may be a link to elsewhere.
        writeAtomic(realPath(source), inside);
        logins.set(name, inside);
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

/** Writes a file into the private home. What the agent put in its way, links above all, is set aside. */
function copyIn(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  reclaimDir(dirname(path), folder);
  if (lstatOf(path)?.isSymbolicLink()) removeIfThere(path);
  writeAtomic(path, text, { root: folder, fsync: false });
}

/** Reads a file of the user. */
function readOwn(path: string): string | null {
  try {
    return readText(path, { maxBytes });
  } catch {
    return null;
  }
}

/** Reads a file of the agent, but not through a link to one of the user. */
function readForeign(path: string): string | null {
  return lstatOf(path)?.isFile() ? readOwn(path) : null;
}

/** True if only tokens and their times differ, and nothing is added, removed or of another type. */
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

/** Settings of git that hold no secrets and need nothing from outside. */
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
  // The signing keys are not there.
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
