import { dirname, join, relative } from 'node:path';
import type { SandboxNeeds } from '../agents/agent.ts';
import { agents } from '../agents/registry.ts';
import { sandboxFolder } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { otherExits } from '../core/outcome.ts';
import { ensureDir, listDir, lstatOf, readText, writeAtomic } from '../os/files/files.ts';
import { acquireLock, type Lock, unreadableLock } from '../os/files/lock.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { removeTempDir } from '../os/files/temp.ts';
import type { GitFolders } from '../os/git/git.ts';
import { type Environment, outsideEnvironment } from '../os/process/process.ts';
import { createPrivateHome } from './home.ts';
import { type Network, openNetwork } from './network.ts';
import { gitOf, includedSettings, type Place, placeOf } from './place.ts';
import { type Protection, protectProject, refuseLink } from './protect.ts';
import type { Sandbox, SandboxSpec } from './sandbox.ts';
import { clearAbandoned, createStandIns, type StandIns } from './stand-ins.ts';

/** Shows `from` of this machine inside, at `path`. */
export type Mount = { readonly path: string; readonly from: string; readonly writable: boolean };

/** Sorts parents before children, one mount for each path: of two, the read-only one. */
export function inOrder(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    if (byPath.get(mount.path)?.writable !== false) byPath.set(mount.path, mount);
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The parts of a sandbox on this machine: a folder with its home, the mounts of its project and its network. */
export type LocalParts = {
  readonly place: Place;
  readonly folder: string;
  /** The home that the agent has inside. */
  readonly home: string;
  /** Names of variables that pass besides the harmless ones. */
  readonly variables: readonly string[];
  /** Throws before `prepare`. */
  opened(): Opened;
};

type Opened = {
  readonly mounts: readonly Mount[];
  readonly network: Network;
  /** Placeholders to mount on where nothing is; placed before each start, cleared after it. */
  readonly standIns: StandIns;
};

/** What differs between the programs that make a sandbox of these parts. */
export type LocalProvider = Pick<Sandbox, 'provider' | 'wrap'> & {
  prepare(): Promise<void>;
  /** Ends what still runs inside. */
  end?(): Promise<void>;
  isRunning?(): Promise<boolean>;
};

export function createLocalSandbox(
  spec: SandboxSpec,
  createProvider: (parts: LocalParts) => LocalProvider,
): Sandbox {
  const place = placeOf(spec);
  const folder = sandboxFolder(spec.env, place.name);
  const home = privateHome(spec, place.root, folder);
  let lock: Lock | null = null;
  let open: Opened | null = null;
  const { provider, prepare, wrap, end, isRunning } = createProvider({
    place,
    folder,
    home: home.folder,
    variables: [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])],
    opened: () => prepared(open),
  });

  const freshHome: Sandbox['freshHome'] = (how) => {
    emptyScratch(folder);
    return home.fill(how);
  };
  const settle = async () => {
    await end?.();
    open?.standIns.clear();
    home.giveBack();
  };
  return {
    provider,
    name: place.name,
    async prepare() {
      lock = lockProject(folder, place);
      clearAbandoned(spec.env);
      // Filled first: a project that is refused releases the lock, and nothing may be written after that.
      await freshHome({ keepSessions: true });
      open = { ...(await openProject(spec, place, folder)), network: await openNetwork(spec) };
      await prepare();
    },
    wrap,
    freshHome,
    settle,
    async stop() {
      try {
        await settle();
      } finally {
        await open?.network.close();
        open = null;
        lock?.release();
        lock = null;
      }
    },
    async remove() {
      await end?.();
      removeFolder(folder, place, spec.env, home.folder);
    },
    status: async () => ({
      name: place.name,
      ...stateOf(folder, home.folder, (await isRunning?.()) ?? false),
    }),
  };
}

function privateHome(spec: SandboxSpec, root: string, folder: string) {
  const needs = agents[spec.agent].sandbox;
  const env = { ...outsideEnvironment(spec.env, root), ...movedFolders(spec, needs.moves) };
  return createPrivateHome(join(folder, 'home'), env, needs, (text) => spec.notice?.(text));
}

function prepared(open: Opened | null): Opened {
  if (open === null) throw new Error('the sandbox is not prepared');
  return open;
}

function emptyScratch(folder: string): void {
  const scratch = join(folder, 'scratch');
  removeTempDir(scratch);
  ensureDir(scratch);
}

function removeFolder(folder: string, place: Place, env: Environment, home: string): void {
  const lock = lockProject(folder, place);
  clearAbandoned(env);
  removeTempDir(home);
  lock.release();
  removeTempDir(folder);
}

function stateOf(folder: string, home: string, isRunning: boolean) {
  const isThere = lstatOf(folder) !== null;
  const state = isRunning ? 'running' : isThere ? 'ready' : 'absent';
  return { state, detail: isThere ? `home in ${home}, ${listDir(home).length} entries` : '' } as const;
}

/** Returns the variables of the agent that say where its folders are. */
function movedFolders({ agentEnv = {} }: SandboxSpec, moves: SandboxNeeds['moves']): Environment {
  const names = Object.keys(moves).filter((name) => name in agentEnv);
  return Object.fromEntries(names.map((name) => [name, agentEnv[name]]));
}

async function openProject(
  spec: SandboxSpec,
  place: Place,
  folder: string,
): Promise<Pick<Opened, 'mounts' | 'standIns'>> {
  const [git, included] = await Promise.all([
    gitOf(place),
    includedSettings(place.root, outsideEnvironment(spec.env, place.root)),
  ]);
  const protection = protectProject(place, git, spec.agent, included);
  return {
    standIns: createStandIns(spec.env, place.name, protection.readOnly),
    mounts: [
      ...extraMounts(spec.paths ?? []),
      ...projectMounts(protection, join(folder, 'scratch')),
      ...(git === null ? [] : ignoreStandIns(folder, place.root, git, protection)),
    ],
  };
}

function projectMounts({ writable, readOnly }: Protection, scratch: string): Mount[] {
  return [
    ...writable.map((path) => ({ path, from: path, writable: true })),
    ...readOnly.map(({ path, standIn }) =>
      standIn?.scratch && !lstatOf(path)
        ? { path, from: scratch, writable: true }
        : { path, from: path, writable: false },
    ),
  ];
}

/** Returns the mounts of `sandboxPaths`: `PATH` or `PATH:rw`. */
function extraMounts(paths: readonly string[]): Mount[] {
  return paths.map((text) => {
    const writable = text.endsWith(':rw');
    const path = realPath(text.replace(/:(?:rw|ro)$/, ''));
    if (lstatOf(path)) return { path, from: path, writable };
    throw new RalphError('sandbox-path', `sandboxPaths has ${text}, which does not exist`, {
      remedy: 'take it out of sandboxPaths, or make it',
    });
  });
}

/** Tells git inside to ignore placeholder files, which are no files of the project. */
function ignoreStandIns(folder: string, root: string, git: GitFolders, { readOnly }: Protection): Mount[] {
  const path = join(git.commonDir, 'info', 'exclude');
  const names = readOnly.flatMap(({ path: file, standIn }) =>
    standIn &&
    standIn.content !== null &&
    isWithin(file, root) &&
    !isWithin(file, git.commonDir) &&
    !lstatOf(file)
      ? [`/${relative(root, file)}`]
      : [],
  );
  if (names.length === 0) return [];
  const from = join(folder, 'exclude');
  const info = dirname(path);
  for (const each of [info, path]) refuseLink(each);
  ensureDir(info, 0o755);
  if (!lstatOf(path)) writeAtomic(path, '', { mode: 0o644, fsync: false });
  writeAtomic(from, [readText(path) ?? '', ...names, ''].join('\n'), { mode: 0o644, fsync: false });
  // The folder, too, so that it cannot be replaced.
  return [
    { path: info, from: info, writable: true },
    { path, from, writable: false },
  ];
}

/** Locks the project: a placeholder can only be removed if no other sandbox has it mounted. */
function lockProject(folder: string, { root }: Place): Lock {
  ensureDir(folder);
  const path = join(folder, 'lock');
  const result = acquireLock(path, { root });
  if (result.ok) return result.lock;
  const { owner } = result;
  throw (
    unreadableLock(path, owner) ??
    new RalphError('sandbox-busy', `a sandbox for ${root} is open already, in process ${owner.pid}`, {
      remedy: 'wait for its end, or: ralph stop',
      exitCode: otherExits.alreadyRunning.exitCode,
    })
  );
}
