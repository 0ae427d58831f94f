import { homedir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { lstatOf, readText } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { listeningSockets } from '../os/notify/sockets.ts';
import type { Environment } from '../os/process/process.ts';

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

export function hiddenPlaces(env: Environment, project: string, users = usersHere()): Hidden {
  const homes = [homeOf(env), ...ownHome(), ...homesOfPeople(users)].filter((home) => home !== '/');
  const folders = topmost([...hiddenFolders.map(realPath), ...homes].filter(isFolder));
  const outside = (path: string) => !folders.some((folder) => isWithin(path, folder));
  const keys = homesOf(users)
    .filter(outside)
    .flatMap((home) => secretsOfHome.map((name) => join(home, name)))
    .filter(look);
  const secrets = [...secretPlaces, ...keys].map(realPath).filter(outside);
  const sockets = openSockets().filter(
    (path) => outside(path) && !isWithin(path, project) && !isWithin(path, '/dev'),
  );
  return {
    folders: [...folders, ...secrets.filter(isFolder)],
    files: [...secrets.filter((path) => look(path)?.isFile()), ...sockets],
  };
}

/** Of services outside that listen in the project: no process of ours is left from a command before. */
export function socketsIn(project: string): string[] {
  return openSockets().filter((path) => isWithin(path, project));
}

function openSockets(): string[] {
  return [...new Set(listeningSockets().map(realPath))].filter((path) => look(path)?.isSocket());
}

/** By the list of users, whatever the environment says. A user of a container may not be on it. */
function ownHome(): string[] {
  try {
    return [realPath(userInfo().homedir)];
  } catch {
    return [];
  }
}

type User = { readonly id: number; readonly home: string };

function usersHere(): User[] {
  const lines = (readText('/etc/passwd') ?? '').split('\n').map((line) => line.split(':'));
  return lines.flatMap(([, , id = '', , , home = '']) =>
    isAbsolute(home) ? [{ id: Number(id), home: realPath(home) }] : [],
  );
}

/** Those of services, too, which are folders of programs and data. */
function homesOf(users: readonly User[]): string[] {
  return [...new Set(users.map(({ home }) => home))].filter(isFolder);
}

/** A folder at the top of the machine is more than somebody's home. */
function homesOfPeople(users: readonly User[]): string[] {
  return homesOf(users.filter(({ id, home }) => id >= 1000 && dirname(home) !== '/'));
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

/** Below a home: only a `bin` in it is ever shown. */
const secretFolders = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.fly', '.password-store', '.mozilla'],
  ...['.config/gh', '.config/gcloud', '.config/op', '.local/share/keyrings'],
];
const secretsOfHome = [
  ...secretFolders,
  ...[
    '.netrc',
    '.pgpass',
    '.my.cnf',
    '.git-credentials',
    '.npmrc',
    '.pypirc',
    '.vault-token',
    '.bash_history',
  ],
];
/** Below a home: each program has a folder for its settings, and maybe its keys, in these. */
const settingsFolders = ['.', '.config', '.local', '.local/share', '.local/state'];

/** The folders, and single programs, that would be hidden with the rest of where they are. */
export function toolPlaces(
  env: Environment,
  programs: readonly string[],
  hidden: Hidden,
  kept: readonly string[],
  packages: readonly string[] = [],
): string[] {
  const homes = [homeOf(env), ...ownHome(), ...homesOfPeople(usersHere())];
  const searched = (env.PATH ?? '').split(delimiter).filter(isAbsolute).map(realPath);
  const isTooMuch = (folder: string) => holdsMore(folder, homes, [...hidden.folders, ...kept]);
  const around = (folder: string) => [folder, ...besides(folder, isTooMuch)];
  const named = toolFolders.map((name) => join(homeOf(env), name));
  const found = programs.flatMap((program) =>
    [program, realPath(program)].flatMap((path) =>
      isTooMuch(dirname(path)) ? [path] : around(wholeOf(realPath(dirname(path)))),
    ),
  );
  const wanted = [
    ...[...named, ...packages, ...found, '/run/current-system', join('/home', 'linuxbrew', '.linuxbrew')].map(
      realPath,
    ),
    ...searched.filter((folder) => !isTooMuch(folder)).flatMap((folder) => around(wholeOf(folder))),
  ];
  const isHidden = (path: string) => hidden.folders.some((folder) => isWithin(path, folder));
  const isKept = (path: string) => kept.some((folder) => isWithin(path, folder));
  const isThere = (path: string) => isFolder(path) || (programs.includes(path) && look(path)?.isFile());
  return topmost(wanted.filter((path) => isHidden(path) && !isKept(path) && isThere(path)));
}

/** A program of a package needs all of `node_modules`. */
function wholeOf(folder: string): string {
  const parts = folder.split(sep);
  const modules = parts.indexOf('node_modules');
  return modules > 0 ? parts.slice(0, modules + 1).join(sep) : folder;
}

/** What the programs in a `bin` are made of. */
function besides(folder: string, isTooMuch: (path: string) => boolean): string[] {
  const whole = dirname(folder);
  if (basename(folder) !== 'bin' || isTooMuch(whole)) return [];
  return ['lib', 'lib64', 'libexec', 'share']
    .map((name) => join(whole, name))
    .filter((path) => !isTooMuch(path));
}

/** Whether more than programs is to be expected: in a home itself, what is hidden, and the settings of programs. */
function holdsMore(folder: string, homes: readonly string[], closed: readonly string[]): boolean {
  if (closed.some((path) => isWithin(path, folder))) return true;
  const home = dirname(folder) === '/home' ? folder : homes.find((each) => isWithin(folder, each));
  const owner = home ?? (folder.startsWith('/home/') ? join('/home', folder.split(sep)[2] ?? '') : undefined);
  if (owner === undefined) return false;
  const name = relative(owner, folder);
  if (name === '') return true;
  if (basename(name) === 'bin' || toolFolders.some((each) => isWithin(name, each))) return false;
  const isTop = name.startsWith('.') && [name, dirname(name)].some((each) => settingsFolders.includes(each));
  return isTop || secretFolders.some((each) => isWithin(name, each));
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
