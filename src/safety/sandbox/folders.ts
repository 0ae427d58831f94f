import { homedir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { lstatOf } from '../../system/files.ts';
import type { Environment } from '../../system/process.ts';
import { isWithin, realPath } from '../../system/real-path.ts';
import { listeningSockets } from '../../system/sockets.ts';

/** What is not seen inside: folders are empty there, files too. */
export type Hidden = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** Homes, what others have put aside, and the sockets of services that would do more for an agent than it may itself. */
const hiddenFolders = ['/home', '/root', '/tmp', '/var/tmp', '/run', '/var/run'];
/** Where a machine keeps its keys; root could read them. */
const secretPlaces = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/krb5.keytab'],
  ...[
    '/etc/ssh',
    '/etc/ssl/private',
    '/etc/letsencrypt',
    '/etc/kubernetes',
    '/etc/rancher',
    '/etc/wireguard',
  ],
  ...['/etc/NetworkManager/system-connections', '/etc/docker', '/etc/cloud', '/var/lib/cloud'],
  ...['/var/lib/kubelet', '/var/lib/docker', '/var/lib/containers', '/var/lib/private', '/var/spool/cron'],
  ...['/var/mail', '/var/spool/mail', '/var/backups'],
];

/** The home as it is in the file system. */
export function homeOf(env: Environment): string {
  return realPath(env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir());
}

export function hiddenPlaces(env: Environment, project: string): Hidden {
  const homes = [homeOf(env), ...ownHome()].filter((home) => home !== '/');
  const folders = topmost([...hiddenFolders.map(realPath), ...homes].filter(isFolder));
  const outside = (path: string) => !folders.some((folder) => isWithin(path, folder));
  const secrets = secretPlaces.map(realPath).filter(outside);
  const sockets = listeningSockets().filter(
    (path) => outside(path) && !isWithin(path, project) && !isWithin(path, '/dev') && look(path)?.isSocket(),
  );
  return {
    folders: [...folders, ...secrets.filter(isFolder)],
    files: [...secrets.filter((path) => look(path)?.isFile()), ...sockets],
  };
}

/** By the list of users, whatever the environment says. A user of a container may not be on it. */
function ownHome(): string[] {
  try {
    return [realPath(userInfo().homedir)];
  } catch {
    return [];
  }
}

/** Where programs are kept below a home. Nothing of it is a secret, and all of it is read-only inside. */
const toolFolders = [
  ...[
    '.nvm',
    '.volta',
    '.fnm',
    '.asdf',
    '.mise',
    '.pyenv',
    '.rbenv',
    '.nodenv',
    '.goenv',
    '.sdkman',
    '.jenv',
  ],
  ...['.rustup', '.cargo/bin', '.bun/bin', '.deno/bin', 'go/bin', '.dotnet', '.npm-global', '.yarn/bin', 'n'],
  ...['.local/bin', '.local/lib', '.local/pipx', 'bin'],
  ...['claude', 'mise', 'fnm', 'pnpm', 'uv', 'pipx', 'nvm', 'virtualenvs'].map(
    (name) => `.local/share/${name}`,
  ),
];

/** The folders with programs that would be hidden with the rest of where they are. */
export function toolPlaces(
  env: Environment,
  programs: readonly string[],
  hidden: Hidden,
  kept: readonly string[],
): string[] {
  const home = homeOf(env);
  const searched = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const wanted = [
    ...toolFolders.map((name) => join(home, name)),
    ...searched.map((folder) => wholeOf(folder, home, kept)),
    ...programs.flatMap((program) =>
      [program, realPath(program)].map((path) => wholeOf(dirname(path), home, kept)),
    ),
    '/run/current-system',
  ];
  const isHidden = (path: string) => hidden.folders.some((folder) => isWithin(path, folder));
  const isKept = (path: string) => kept.some((folder) => isWithin(path, folder));
  return topmost(wanted.map(realPath).filter((path) => isHidden(path) && !isKept(path) && isFolder(path)));
}

/** A program needs the package around it: all of `node_modules`, or what has a `bin`. */
function wholeOf(folder: string, home: string, kept: readonly string[]): string {
  const parts = folder.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules > 0) return parts.slice(0, modules + 1).join(sep);
  if (basename(folder) !== 'bin') return folder;
  const whole = dirname(folder);
  const tooMuch = [home, ...kept].some((path) => isWithin(path, whole)) || whole === join(home, '.local');
  return tooMuch || dirname(whole) === whole ? folder : whole;
}

/** Without those that are below others. */
function topmost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)].sort();
  return unique.filter((path) => !unique.some((other) => other !== path && isWithin(path, other)));
}

function isFolder(path: string): boolean {
  return look(path)?.isDirectory() === true;
}

/** What we may not look at is not there for us, and not for what we start. */
function look(path: string): ReturnType<typeof lstatOf> {
  try {
    return lstatOf(path);
  } catch {
    return null;
  }
}
