import { dirname, join, relative } from 'node:path';
import { agents } from '../agents/registry.ts';
import { sandboxFolder } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { otherExits } from '../core/outcome.ts';
import { ensureDir, listDir, lstatOf, readText, removeIfThere, writeAtomic } from '../os/files/files.ts';
import { acquireLock, type Lock, unreadableLock } from '../os/files/lock.ts';
import { isWithin } from '../os/files/real-path.ts';
import { removeTempDir } from '../os/files/temp.ts';
import type { GitFolders } from '../os/git/git.ts';
import { type Environment, outsideEnvironment } from '../os/process/process.ts';
import { includedSettings } from './git-includes.ts';
import { createPrivateHome } from './home.ts';
import { extraMounts, type Mount, projectMounts } from './mounts.ts';
import { type Network, openNetwork } from './network.ts';
import { gitOf, type Place, placeOf } from './place.ts';
import { type Protection, protectProject, refuseLink } from './protect.ts';
import type { SandboxSpec } from './sandbox.ts';
import { clearAbandoned, createStandIns, type StandIns } from './stand-ins.ts';

/** The parts of a sandbox on this machine: a folder with its home, the mounts of its project and its network. */
export type LocalParts = {
  readonly place: Place;
  /** The home that the agent has inside. */
  readonly home: string;
  /** Names of variables that pass besides the harmless ones. */
  readonly variables: readonly string[];
  /** Throws before `open`. */
  opened(): Opened;
  open(): Promise<void>;
  /** See `Sandbox`. */
  freshHome(how: { readonly keepSessions: boolean }): Promise<void>;
  /** Call it after a command has ended. */
  settle(): void;
  close(): Promise<void>;
  /** Describes what is kept for the next run; null if nothing is. */
  detail(): string | null;
  remove(): void;
};

type Opened = {
  readonly mounts: readonly Mount[];
  readonly network: Network;
  /** Placeholders to mount on where nothing is; placed before each start, cleared after it. */
  readonly standIns: StandIns;
};

/** Returns the variables of the agent that say where its folders are. */
function movedFolders({ agentEnv = {} }: SandboxSpec, names: readonly string[]): Environment {
  return Object.fromEntries(names.flatMap((name) => (name in agentEnv ? [[name, agentEnv[name]]] : [])));
}

export function createLocalParts(spec: SandboxSpec): LocalParts {
  const place = placeOf(spec);
  const needs = agents[spec.agent].sandbox;
  const folder = sandboxFolder(spec.env, place.name);
  const outside = outsideEnvironment(spec.env, place.root);
  const homeEnv = { ...outside, ...movedFolders(spec, Object.keys(needs.moves)) };
  const home = createPrivateHome(join(folder, 'home'), homeEnv, needs, (text) => spec.notice?.(text));
  const scratch = join(folder, 'scratch');
  let lock: Lock | null = null;
  let open: Opened | null = null;

  const freshHome: LocalParts['freshHome'] = async (how) => {
    removeTempDir(scratch);
    ensureDir(scratch);
    await home.fill(how);
  };
  const settle = (): void => {
    open?.standIns.clear();
    home.giveBack();
  };
  return {
    place,
    home: home.folder,
    variables: [...needs.variables, ...(spec.variables ?? [])],
    opened() {
      if (open === null) throw new Error('the sandbox is not prepared');
      return open;
    },
    async open() {
      ensureDir(folder);
      lock = lockProject(folder, place);
      clearAbandoned(spec.env);
      // Filled first: a project that is refused releases the lock, and nothing may be written after that.
      await freshHome({ keepSessions: true });
      open = { ...(await openProject(spec, place, folder)), network: await openNetwork(spec) };
    },
    freshHome,
    settle,
    async close() {
      try {
        settle();
      } finally {
        await open?.network.close();
        open = null;
        lock?.release();
        lock = null;
      }
    },
    detail: () => (lstatOf(folder) ? `home in ${home.folder}, ${listDir(home.folder).length} entries` : null),
    remove() {
      ensureDir(folder);
      const ownLock = lockProject(folder, place);
      clearAbandoned(spec.env);
      removeTempDir(home.folder);
      ownLock.release();
      removeIfThere(join(folder, 'lock'));
      removeTempDir(folder);
    },
  };
}

/** Decides how the project is mounted. */
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
