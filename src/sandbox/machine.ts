import { join, relative } from 'node:path';
import { agents } from '../agents/registry.ts';
import { RalphError } from '../core/error.ts';
import { systemClock } from '../os/clock.ts';
import { randomHex } from '../os/crypto.ts';
import { type FileSnapshot, snapshotFiles } from '../os/files/file-snapshot.ts';
import { isWithin } from '../os/files/real-path.ts';
import type { GitFolders } from '../os/git/git.ts';
import { type Argv, outsideEnvironment } from '../os/process/process.ts';
import { hideVariables, namesToPass } from './environment.ts';
import { gitOf, type Place } from './place.ts';
import type { Sandbox, SandboxSpec, Wrapped } from './sandbox.ts';
import type { Tool } from './tool.ts';

/** What differs between the programs that keep virtual machines. */
export type MachineKeeper = Pick<Sandbox, 'provider' | 'name'> & {
  readonly tool: Tool;
  /** Words that list the machines, and the names in that list. */
  readonly list: readonly string[];
  namesIn(listing: string): readonly string[];
  /** Makes the machine, with these paths of ours shown inside. */
  create(paths: readonly string[]): Promise<void>;
  /** Called for a machine that exists already. */
  reopen?(how: { readonly resumed?: boolean }): Promise<void>;
  readonly removal: readonly string[];
  /** The command line for a program that is not started by `exec`; null for the others. */
  ownCommand?(argv: Argv): Pick<Wrapped, 'argv' | 'promptAsWord'> | null;
  /** Time until files from inside are here. */
  readonly settleMs?: number;
  readonly remedy: string;
  readonly detail: string;
};

/** The first start fetches an image. */
export const createTimeoutMs = 15 * 60_000;

/** A virtual machine of its own for the project, with the agent in it. It shows the project as it is. */
export function createMachine(spec: SandboxSpec, place: Place, keeper: MachineKeeper): Sandbox {
  const { provider, name, tool } = keeper;
  const also = [...agents[spec.agent].sandbox.variables, ...(spec.variables ?? [])];
  let project: FileSnapshot | null = null;
  const exists = async () => keeper.namesIn(await tool.must(keeper.list)).includes(name);
  return {
    provider,
    name,
    async prepare(how = {}) {
      const git = await gitOf(place);
      project = snapshotProject(place.root, git);
      if (await exists()) await keeper.reopen?.(how);
      else await keeper.create(pathsToShow(place, git, spec.paths));
    },
    wrap(argv, variables, cwd, alone = {}) {
      const env = outsideEnvironment(variables, place.root);
      const own = keeper.ownCommand?.(argv);
      if (own) return { ...own, env };
      const inner = hideVariables(argv, alone);
      const names = [...namesToPass(env, also), ...inner.names].flatMap((each) => ['-e', each]);
      const marked = markedCommand(inner.argv, keeper.remedy);
      return {
        argv: [...tool.command, 'exec', '-i', '-w', cwd, ...names, name, ...marked.argv],
        env: { ...env, ...inner.env },
        ...marked.check,
      };
    },
    async settle() {
      if (keeper.settleMs !== undefined) await systemClock.sleep(keeper.settleMs);
      project?.restore();
    },
    async stop() {
      project?.restore();
      await tool.ask(['stop', name]);
    },
    async remove() {
      if (await exists()) await tool.must(keeper.removal);
    },
    freshHome: async () => {},
    async status() {
      return { name, state: (await exists()) ? 'ready' : 'absent', detail: keeper.detail };
    },
  };
}

/** Returns what the machine is shown: the project, its repository, and the user's paths. */
function pathsToShow({ root }: Place, git: GitFolders | null, paths: readonly string[] = []): string[] {
  const repository = git === null || isWithin(git.commonDir, root) ? [] : [git.commonDir];
  const more = paths.map((path) => (path.endsWith(':rw') ? path.slice(0, -3) : `${path}:ro`));
  return [root, ...repository, ...more];
}

/** Prints on standard error that the command ran and how it ended: exit code 1 may also be the sandbox's own. */
const markScript = '"$@"; code=$?; printf "%s %s\\n" "$0" "$code" >&2; exit "$code"';

/** Wraps a command so that a failure of the sandbox can be told from one of the command. */
function markedCommand(
  argv: Argv,
  remedy: string,
): { readonly argv: Argv; readonly check: Pick<Wrapped, 'marker' | 'failure'> } {
  const marker = `ralph-end-${randomHex(6)}`;
  return {
    argv: ['sh', '-c', markScript, marker, ...argv],
    check: {
      marker,
      failure(exitCode, stderr) {
        if (exitCode === 0 || stderr.includes(marker)) return null;
        const lastLine = stderr.trim().split('\n').at(-1) || `exit code ${exitCode}`;
        return new RalphError('sandbox-failed', `the sandbox did not run the command: ${lastLine}`, {
          remedy,
        });
      },
    },
  };
}

const hookNames = [
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit commit-msg prepare-commit-msg',
  'post-commit pre-rebase post-checkout post-merge pre-push update pre-receive post-receive post-update',
  'reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman',
  'post-index-change proc-receive',
].flatMap((line) => line.split(' '));

const settingsFiles = [
  ...Object.values(agents).flatMap(({ sandbox }) => sandbox.projectSettings),
  ...['.hg/hgrc', '.hg/hgrc-not-shared', '.hg/requires', '.hg/sharedpath'],
];

/** Remembers the files that decide what runs outside. */
function snapshotProject(root: string, git: GitFolders | null): FileSnapshot {
  const project = snapshotFiles(root, [...settingsFiles, ...gitFilesBelow(root, git)]);
  // A linked worktree has its repository elsewhere.
  const elsewhere = git !== null && !isWithin(git.commonDir, root) ? git.commonDir : null;
  const repository = elsewhere === null ? null : snapshotFiles(elsewhere, gitFilesBelow(elsewhere, git));
  return { restore: () => [...project.restore(), ...(repository?.restore() ?? [])] };
}

function gitFilesBelow(folder: string, git: GitFolders | null): string[] {
  if (git === null) return [];
  // Only a linked worktree has `commondir` and `gitdir`.
  const settings = [git.commonDir, git.gitDir].flatMap((each) =>
    ['config', 'config.worktree', 'commondir', 'gitdir'].map((name) => join(each, name)),
  );
  const all = new Set([...settings, ...hookNames.map((name) => join(git.hooks, name))]);
  return [...all].filter((path) => isWithin(path, folder)).map((path) => relative(folder, path));
}
