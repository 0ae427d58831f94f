import { homedir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { attempt } from '../os/attempt.ts';
import { lstatOf, readText, tryReadText } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import type { Environment } from '../os/process/process.ts';

/** Paths that are not seen inside: folders and files are empty there. */
export type HiddenPaths = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** Homes, temporary files of others, and sockets of services that would do more for an agent than it may itself. */
const hiddenFolders = ['/home', '/root', '/tmp', '/var/tmp', '/run', '/var/run'];
/** Where a machine keeps its keys, which root could read. */
const secretPlaces = [
  '/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/krb5.keytab /etc/ssh /etc/ssl/private',
  '/etc/letsencrypt /etc/kubernetes /etc/rancher /etc/wireguard /etc/NetworkManager/system-connections',
  '/etc/docker /etc/cloud /var/lib/cloud /var/lib/kubelet /var/lib/docker /var/lib/containers',
  '/var/lib/private /var/spool/cron /var/mail /var/spool/mail /var/backups',
].flatMap((line) => line.split(' '));

export function homeOf(env: Environment): string {
  return realPath(env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir());
}

export function hiddenPlaces(env: Environment, project: string, users = usersHere()): HiddenPaths {
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

/** Returns the sockets in the project. They belong to services outside: no process of an earlier command is left. */
export function socketsIn(project: string): string[] {
  return openSockets().filter((path) => isWithin(path, project));
}

/** Returns the unix sockets at which somebody takes connections or messages. Linux only; empty elsewhere. */
function openSockets(): string[] {
  const acceptsConnections = '00010000';
  const takesMessages = '0002';
  const paths = (tryReadText('/proc/net/unix') ?? '').split('\n').flatMap((line) => {
    const [, , , flags, type, , , ...path] = line.split(' ').filter((part) => part !== '');
    return flags === acceptsConnections || type === takesMessages ? [path.join(' ')] : [];
  });
  // Names that begin with @ are no files.
  const files = paths.filter((path) => path.startsWith('/')).map(realPath);
  return [...new Set(files)].filter((path) => look(path)?.isSocket());
}

/** Returns the home in the list of users, whatever HOME says. A user of a container may not be on it. */
function ownHome(): string[] {
  return attempt(() => [realPath(userInfo().homedir)], []);
}

type User = { readonly id: number; readonly home: string };

function usersHere(): User[] {
  const lines = (readText('/etc/passwd') ?? '').split('\n').map((line) => line.split(':'));
  return lines.flatMap(([, , id = '', , , home = '']) =>
    isAbsolute(home) ? [{ id: Number(id), home: realPath(home) }] : [],
  );
}

/** Returns all homes, also those of services, which hold programs and data. */
function homesOf(users: readonly User[]): string[] {
  return [...new Set(users.map(({ home }) => home))].filter(isFolder);
}

/** Returns the homes of people; a folder at the top of the machine is more than a home. */
function homesOfPeople(users: readonly User[]): string[] {
  return homesOf(users.filter(({ id, home }) => id >= 1000 && dirname(home) !== '/'));
}

/** Folders of programs below a home. They hold no secrets and are read-only inside. */
const toolFolders = [
  '.nvm .volta .fnm .asdf .mise .pyenv .rbenv .nodenv .goenv .sdkman .jenv .rustup .cargo/bin .bun/bin',
  '.deno/bin go/bin .dotnet .npm-global .yarn/bin n .local/bin .local/lib .local/pipx bin .local/share/claude',
  '.local/share/mise .local/share/fnm .local/share/pnpm .local/share/uv .local/share/pipx .local/share/nvm',
  '.local/share/virtualenvs',
].flatMap((line) => line.split(' '));

/** Folders below a home of which only a `bin` is ever shown. */
const secretFolders = [
  '.ssh .gnupg .aws .azure .kube .docker .fly .password-store .mozilla .config/gh .config/gcloud .config/op',
  '.local/share/keyrings',
].flatMap((line) => line.split(' '));
const secretsOfHome = [
  ...secretFolders,
  ...'.netrc .pgpass .my.cnf .git-credentials .npmrc .pypirc .vault-token .bash_history'.split(' '),
];
/** Folders below a home in which each program has one for its settings, and maybe its keys. */
const settingsFolders = ['.', '.config', '.local', '.local/share', '.local/state'];

/** Returns the folders of programs, and single programs, that would be hidden with the rest of where they are. */
export function toolPlaces(
  env: Environment,
  {
    programs,
    packages = [],
  }: { readonly programs: readonly string[]; readonly packages?: readonly string[] },
  hidden: HiddenPaths,
  mounted: readonly string[],
): string[] {
  const homes = [homeOf(env), ...ownHome(), ...homesOfPeople(usersHere())];
  const searchPath = (env.PATH ?? '').split(delimiter).filter(isAbsolute).map(realPath);
  const isTooMuch = (folder: string) => holdsMore(folder, homes, [...hidden.folders, ...mounted]);
  const around = (folder: string) => [folder, ...besides(folder, isTooMuch)];
  const nearPrograms = programs.flatMap((program) =>
    [program, realPath(program)].flatMap((path) =>
      isTooMuch(dirname(path)) ? [path] : around(wholeOf(realPath(dirname(path)))),
    ),
  );
  const places = [
    ...toolFolders.map((name) => join(homeOf(env), name)),
    ...packages,
    ...nearPrograms,
    ...['/run/current-system', join('/home', 'linuxbrew', '.linuxbrew')],
  ];
  const all = [
    ...places.map(realPath),
    ...searchPath.filter((folder) => !isTooMuch(folder)).flatMap((folder) => around(wholeOf(folder))),
  ];
  const isInside = (path: string, folders: readonly string[]) =>
    folders.some((folder) => isWithin(path, folder));
  const exists = (path: string) => isFolder(path) || (programs.includes(path) && look(path)?.isFile());
  return topmost(
    all.filter((path) => isInside(path, hidden.folders) && !isInside(path, mounted) && exists(path)),
  );
}

/** Returns all of `node_modules` for a folder in it: a program needs its package and others. */
function wholeOf(folder: string): string {
  const parts = folder.split(sep);
  const modules = parts.indexOf('node_modules');
  return modules > 0 ? parts.slice(0, modules + 1).join(sep) : folder;
}

function besides(folder: string, isTooMuch: (path: string) => boolean): string[] {
  const whole = dirname(folder);
  if (basename(folder) !== 'bin' || isTooMuch(whole)) return [];
  return ['lib', 'lib64', 'libexec', 'share']
    .map((name) => join(whole, name))
    .filter((path) => !isTooMuch(path));
}

/** True for a folder that may hold more than programs: a home itself, hidden places, settings of programs. */
function holdsMore(folder: string, homes: readonly string[], closedFolders: readonly string[]): boolean {
  if (closedFolders.some((path) => isWithin(path, folder))) return true;
  const home = dirname(folder) === '/home' ? folder : homes.find((each) => isWithin(folder, each));
  const owner = home ?? (folder.startsWith('/home/') ? join('/home', folder.split(sep)[2] ?? '') : undefined);
  if (owner === undefined) return false;
  const name = relative(owner, folder);
  if (name === '') return true;
  if (basename(name) === 'bin' || toolFolders.some((each) => isWithin(name, each))) return false;
  const isTop = name.startsWith('.') && [name, dirname(name)].some((each) => settingsFolders.includes(each));
  return isTop || secretFolders.some((each) => isWithin(name, each));
}

/** Leaves out paths that are below others. */
function topmost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)].sort();
  return unique.filter((path) => !unique.some((other) => other !== path && isWithin(path, other)));
}

function isFolder(path: string): boolean {
  return look(path)?.isDirectory() === true;
}

/** Null also for a path that we may not look at. */
function look(path: string): ReturnType<typeof lstatOf> {
  return attempt(() => lstatOf(path), null);
}
