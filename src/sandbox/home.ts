import { basename, dirname, join } from 'node:path';
import type { SandboxNeeds } from '../agents/agent.ts';
import { sha256 } from '../os/crypto.ts';
import {
  ensureDir,
  isRealDir,
  listDir,
  lstatOf,
  removeIfThere,
  renameIfThere,
  tryReadText,
  writeAtomic,
} from '../os/files/files.ts';
import { realPath } from '../os/files/real-path.ts';
import { removeTempDir } from '../os/files/temp.ts';
import { walkFiles } from '../os/files/walk.ts';
import { type Environment, runCommand } from '../os/process/process.ts';
import { homeOf } from './folders.ts';
import { compareLogins } from './login.ts';

const maxBytes = 4 * 1024 * 1024;

/** Folders that a variable moves elsewhere. Inside they are at their usual place, and the variables do not pass. */
const movedFolders = { XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share' };

/** The home of the agent inside. It holds only copies, and of what an agent left there at most its sessions. */
export function createPrivateHome(
  folder: string,
  env: Environment,
  needs: SandboxNeeds,
  tell: (text: string) => void,
) {
  /** By name: the user's, and the one that is inside. */
  const logins = new Map<string, { readonly own: string; readonly inside: string }>();
  const aside = join(dirname(folder), 'logins');
  const sourceOf = (name: string) => sourcePath(name, env, { ...movedFolders, ...needs.moves });
  return {
    folder,
    /** Makes it anew, with the agent's current settings and logins. */
    async fill({ keepSessions }: { readonly keepSessions: boolean }): Promise<void> {
      makeAnew(folder, keepSessions ? needs.sessions : null);
      const asides: string[] = [];
      for (const name of [...needs.settings, ...needs.logins]) {
        const own = readOwn(sourceOf(name));
        if (own === null) continue;
        const isLogin = needs.logins.includes(name);
        // The agent goes on with the login that it renewed, as long as the user has made no new one.
        const renewal = join(aside, asideName(name, own));
        const inside = (isLogin ? readOwn(renewal) : null) ?? own;
        copyIn(folder, name, inside);
        if (!isLogin) continue;
        logins.set(name, { own, inside });
        asides.push(basename(renewal));
      }
      for (const name of listDir(aside))
        if (!asides.some((each) => name.startsWith(each))) removeIfThere(join(aside, name));
      copyIn(folder, '.gitconfig', await gitSettings(env));
    },
    /** Copies a login back that was renewed inside, if it is the same account's: the old one may be invalid now. */
    giveBack(): void {
      for (const [name, { own, inside }] of logins) {
        const source = sourceOf(name);
        const now = isRealDir(dirname(join(folder, name)), folder) ? readForeign(join(folder, name)) : null;
        // A new login outside counts more.
        if (now === null || now === inside || readOwn(source) !== own) continue;
        const change = compareLogins(own, now);
        if (change === 'no-renewal') continue;
        logins.set(name, { own: change === 'same-account' ? now : own, inside: now });
        if (change === 'same-account') {
          // The file may be a link to elsewhere.
          writeAtomic(realPath(source), now);
          continue;
        }
        const isOther = change === 'other-account';
        const file = join(aside, `${asideName(name, own)}${isOther ? '.other' : ''}`);
        ensureDir(aside);
        writeAtomic(file, now);
        const why = isOther ? 'it is of another account' : 'nothing in it says whose account it is';
        tell(
          `the login ${name} was changed in the sandbox, and ${why}. Yours is as it was. The other one is ${file}; if it is yours: cp '${file}' '${source}'`,
        );
      }
    },
  };
}

/** Returns the name of a login that was renewed from `own`. */
function asideName(name: string, own: string): string {
  return `${sha256(own).slice(0, 16)}-${basename(name)}`;
}

/** Empties a home but for the agent's sessions. A link that the agent put on the way to these leads nowhere. */
function makeAnew(folder: string, sessions: SandboxNeeds['sessions']): void {
  const old = `${folder}.old`;
  removeTempDir(old);
  renameIfThere(folder, old);
  ensureDir(folder);
  if (sessions !== null && isRealDir(join(old, sessions.folder), old)) {
    for (const name of walkFiles(join(old, sessions.folder), new Set())) {
      const path = join(sessions.folder, name);
      if (!sessions.files.test(name) || !lstatOf(join(old, path))?.isFile()) continue;
      ensureDir(dirname(join(folder, path)));
      renameIfThere(join(old, path), join(folder, path));
    }
  }
  removeTempDir(old);
}

function sourcePath(name: string, env: Environment, moves: SandboxNeeds['moves']): string {
  for (const [variable, folder] of Object.entries(moves)) {
    const elsewhere = env[variable];
    if (elsewhere && folder !== null && name.startsWith(`${folder}/`))
      return join(elsewhere, name.slice(folder.length + 1));
  }
  return join(homeOf(env), name);
}

function copyIn(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  ensureDir(dirname(path));
  writeAtomic(path, text, { root: folder, fsync: false });
}

function readOwn(path: string): string | null {
  return tryReadText(path, { maxBytes });
}

/** Reads a file of the agent, but not through a link to one of the user. */
function readForeign(path: string): string | null {
  return lstatOf(path)?.isFile() ? readOwn(path) : null;
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
