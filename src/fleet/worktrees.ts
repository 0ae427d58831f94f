import { basename, dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { RalphError } from '../core/error.ts';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJsonAs,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../os/files/files.ts';
import { lockOwner } from '../os/files/lock.ts';
import { removeFolder } from '../os/files/new-folder.ts';
import { realPath } from '../os/files/real-path.ts';
import { gitRoot, headCommit, runGit, runGitForUser } from '../os/git/git.ts';
import type { Environment } from '../os/process/program.ts';
import { fleetPaths, signalPaths } from './files/paths.ts';
import { type WorktreePlace, worktreePlace } from './files/workers.ts';
import { dirtIn } from './worktree-dirt.ts';

export type WorktreeOrder = {
  readonly name: string;
  /** Any folder of the repository. */
  readonly cwd: string;
  /** The name of the worker, if not given. */
  readonly branch?: string | undefined;
  /** The folder that holds the worktrees; `<repository>-worktrees` if not given. */
  readonly dir?: string | undefined;
};

/** A worktree that nobody owns yet: the caller has to call `keep` or `undo`. */
export type NewWorktree = {
  readonly place: WorktreePlace;
  /** Hands the worktree to the worker that is on the list now. */
  keep(): void;
  /** Removes what was made, and nothing else. */
  undo(): Promise<void>;
};

/** Intent to make a worktree: written before the first step, removed once a worker has it or it is undone. */
const intentSchema = v.object({
  name: v.string(),
  place: worktreePlace,
  /** The branch is new, and begins at this commit. */
  newBranchAt: v.nullable(v.string()),
});
export type WorktreeIntent = Readonly<v.InferOutput<typeof intentSchema>>;

type RegisteredWorktree = { readonly branch: string | null; readonly lock: string | null };

/** Timeout of a checkout, for a big one on a slow disk. */
const checkoutMs = 15 * 60_000;

/** Makes a worktree with its branch, or returns the existing one. A failure leaves nothing behind. */
export async function createWorktree(env: Environment, order: WorktreeOrder): Promise<NewWorktree> {
  const place = await placeFor(order);
  const entry = await findRegistered(place.base_repo, place.path);
  if (entry !== null) return reuse(place, entry);
  const stat = lstatOf(place.path);
  if (stat !== null && !(stat.isDirectory() && listDir(place.path).length === 0)) {
    throw failure(`there is something in the place of the worktree: ${place.path}`, 'use --worktree-dir DIR');
  }
  const head = await headCommit(place.base_repo);
  if (head === null) throw failure('a repository without commits has no worktrees', 'git commit');
  const isNew = !(await hasBranch(place));
  const intent = { name: order.name, place, newBranchAt: isNew ? head : null };
  writeIntent(env, intent);
  const words = isNew ? ['--no-track', '-b', place.branch, place.path, head] : [place.path, place.branch];
  const result = await runGitForUser(place.base_repo, ['worktree', 'add', ...words], checkoutMs);
  const undo = async () => void (await undoWorktree(env, intent));
  if (result.exitCode === 0) return { place, keep: () => removeIfThere(intentPath(env, intent)), undo };
  await undo();
  const line = result.stderr.trim().split('\n').at(-1) ?? '';
  throw failure(`the worktree cannot be made: ${line.replace(/^(?:fatal|error): /, '')}`);
}

/** Removes what an interrupted `createWorktree` made; false if there is work in it. */
export async function undoWorktree(env: Environment, intent: WorktreeIntent): Promise<boolean> {
  const { place, newBranchAt } = intent;
  const entry = await findRegistered(place.base_repo, place.path);
  if (entry !== null) {
    // Git holds this lock until the checkout is complete: nobody has worked there.
    const isHalfMade = entry.lock === 'initializing';
    if (!isHalfMade && (await dirtIn(place)) !== '') return false;
    await runGit(place.base_repo, ['worktree', 'remove', '--force', '--force', place.path]);
  }
  if (lstatOf(place.path) !== null) {
    // Git may have made nothing but its own file.
    if (listDir(place.path).some((name) => name !== '.git')) return false;
    removeFolder(place.path);
  }
  if (newBranchAt !== null) {
    // Deletes the branch only if it has no new commit.
    await runGitForUser(place.base_repo, ['update-ref', '-d', `refs/heads/${place.branch}`, newBranchAt]);
  }
  removeIfThere(intentPath(env, intent));
  return true;
}

export function writeIntent(env: Environment, intent: WorktreeIntent): void {
  ensureDir(intentFolder(env));
  writeAtomic(intentPath(env, intent), `${JSON.stringify(intent)}\n`);
}

/** Returns intents whose maker is gone: it holds the lock of the worker, which only the caller may have now. */
export function abandonedIntents(env: Environment): WorktreeIntent[] {
  return listDir(intentFolder(env)).flatMap((file) => {
    const path = join(intentFolder(env), file);
    const intent = readJsonAs(path, intentSchema);
    if (intent === null) setAside(path);
    const owner = intent && lockOwner(signalPaths(env, intent.name).lock);
    return intent === null || (owner !== null && owner.pid !== process.pid) ? [] : [intent];
  });
}

function intentFolder(env: Environment): string {
  return join(fleetPaths(env).root, 'worktrees');
}

function intentPath(env: Environment, { name }: WorktreeIntent): string {
  return join(intentFolder(env), `${name}.json`);
}

/** True if git knows the worktree, and its folder is there. */
export async function worktreeExists(place: WorktreePlace): Promise<boolean> {
  return lstatOf(place.path) !== null && (await findRegistered(place.base_repo, place.path)) !== null;
}

/** Checks the branch of a lost worktree out again; false if the branch is gone or the place is taken. */
export async function restoreWorktree(place: WorktreePlace): Promise<boolean> {
  if (!(await hasBranch(place))) return false;
  // Forced twice, git ignores that it remembers a worktree there.
  const words = ['worktree', 'add', '--force', '--force', place.path, place.branch];
  return (await runGitForUser(place.base_repo, words, checkoutMs)).exitCode === 0;
}

async function placeFor({ name, cwd, branch = name, dir }: WorktreeOrder): Promise<WorktreePlace> {
  const root = await gitRoot(cwd);
  if (root === null) throw failure('not in a git repository (required for --worktree)', 'git init');
  const check = await runGit(root, ['check-ref-format', '--branch', branch]);
  if (check.exitCode !== 0) throw failure(`${JSON.stringify(branch)} is no name for a branch`);
  const parent = dir === undefined ? join(dirname(root), `${basename(root)}-worktrees`) : resolve(cwd, dir);
  return { path: join(realPath(parent), name), branch, base_repo: root };
}

function reuse(place: WorktreePlace, entry: RegisteredWorktree): NewWorktree {
  if (entry.branch !== place.branch || lstatOf(place.path) === null) {
    const branch = entry.branch === null ? 'no branch' : `the branch ${entry.branch}`;
    throw failure(
      `${place.path} is a worktree already, of ${branch}`,
      `git -C '${place.base_repo}' worktree remove '${place.path}'`,
    );
  }
  return { place, keep: () => {}, undo: async () => {} };
}

export async function hasBranch({ base_repo, branch }: WorktreePlace): Promise<boolean> {
  const words = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  return (await runGit(base_repo, words)).exitCode === 0;
}

async function findRegistered(repo: string, path: string): Promise<RegisteredWorktree | null> {
  const list = await runGit(repo, ['worktree', 'list', '--porcelain', '-z']);
  const entries = list.stdout.split('\0\0').map((entry) => entry.split('\0'));
  for (const lines of entries) {
    const field = (name: string) => lines.find((line) => line === name || line.startsWith(`${name} `));
    if (field('worktree')?.slice('worktree '.length) !== path) continue;
    return {
      branch: field('branch')?.slice('branch refs/heads/'.length) ?? null,
      lock: field('locked')?.slice('locked '.length) ?? null,
    };
  }
  return null;
}

function failure(message: string, remedy?: string): RalphError {
  return new RalphError('worktree', message, { exitCode: 1, remedy });
}
