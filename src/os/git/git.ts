import { existsSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { attempt } from '../attempt.ts';
import { listDir, lstatOf, readText, tryReadText } from '../files/files.ts';
import { realPath } from '../files/real-path.ts';
import {
  type Argv,
  type CommandResult,
  type Environment,
  outsideEnvironment,
  runCommand,
} from '../process/process.ts';

/** Pathspec of all files but those that ralph writes itself. */
export const workOnly = ['--', ':/', ':(exclude,top,glob)**/.ralph/**'];
// To look at the files of a nested repository, which an agent may have made, git would run the filters that its
// configuration names. Another commit than before is seen without.
export const committedOnly = '--ignore-submodules=dirty';

// Hooks and aliases of git set these for their own repository; ours may be another.
const foreignVariables = [
  'ALTERNATE_OBJECT_DIRECTORIES COMMON_DIR CONFIG DIR GRAFT_FILE IMPLICIT_WORK_TREE INDEX_FILE',
  'INTERNAL_SUPER_PREFIX NAMESPACE NO_REPLACE_OBJECTS OBJECT_DIRECTORY PREFIX QUARANTINE_PATH',
  'REPLACE_REF_BASE SHALLOW_FILE WORK_TREE',
].flatMap((line) => line.split(' ').map((name) => `GIT_${name}`));

/** Returns the top folder of the working copy; null outside of one, or without git. */
export async function gitRoot(cwd: string): Promise<string | null> {
  const text = await stdoutOf(runGit(cwd, ['rev-parse', '--show-toplevel']));
  return text?.replace(/\r?\n$/, '') || null;
}

/** Returns the nearest folder above with a `.git`, without a call of git, which the first start of an agent has no time for. */
export function findRepository(cwd: string, isOne = isRepository): string | null {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    if (isOne(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** The same, but null if the repository is broken: git would go on to one around it. */
export function findWholeRepository(cwd: string): string | null {
  const top = findRepository(cwd, (path) => isRepository(path) || isFilled(path));
  return top !== null && isWhole(gitFolderOf(top)) ? top : null;
}

/** Checks what git itself checks. */
function isWhole(gitDir: string): boolean {
  // In old repositories it is a link, and its branch may have no commit yet.
  const file = join(gitDir, 'HEAD');
  const head = attempt(() => readlinkSync(file), null) ?? tryReadText(file);
  if (!/^(ref:\s*refs\/|refs\/|[0-9a-f]{40})/.test(head ?? '')) return false;
  const has = (name: string) => existsSync(join(gitDir, name));
  return has('commondir') || (has('objects') && has('refs'));
}

/** Returns the folder of git; in a linked worktree and in a submodule, a file names it. */
function gitFolderOf(top: string): string {
  const path = join(top, '.git');
  const pointer = lstatOf(path)?.isFile() ? /^gitdir: (.*\S)/.exec(tryReadText(path) ?? '')?.[1] : undefined;
  return pointer === undefined ? path : resolve(top, pointer);
}

/** Returns the same folder in the main working copy; outside of a linked worktree, the folder itself. */
export function inMainWorkingCopy(cwd: string): string {
  const here = realPath(cwd);
  const top = findRepository(here);
  const own = top === null ? here : gitFolderOf(top);
  const common = tryReadText(join(own, 'commondir'))?.trim();
  // git writes down the way back. A pointer that came in an archive has none.
  const back = tryReadText(join(own, 'gitdir'))?.trim();
  if (top === null || !common || !back || realPath(back) !== join(top, '.git')) return here;
  const main = resolve(own, common);
  return join(basename(main) === '.git' ? dirname(main) : main, relative(top, here));
}

/** False for an empty folder of that name, which git skips, too. */
function isRepository(path: string): boolean {
  return existsSync(join(path, 'HEAD')) || lstatOf(path)?.isDirectory() === false;
}

/** False also for a folder that we may not read: it is not ours. */
function isFilled(path: string): boolean {
  return attempt(() => listDir(path).length > 0, false);
}

export type GitFolders = {
  readonly gitDir: string;
  /** Differs from `gitDir` only in a linked worktree. */
  readonly commonDir: string;
  /** Folder of hooks, which the configuration may have moved. */
  readonly hooks: string;
  readonly submodules: readonly { readonly gitDir: string; readonly pointer: string }[];
};

/** Returns the folders of a repository; null outside of one. */
export async function gitFolders(cwd: string): Promise<GitFolders | null> {
  const words = ['--path-format=absolute', '--git-dir', '--git-common-dir', '--git-path', 'hooks'];
  const text = await stdoutOf(runGit(cwd, ['rev-parse', ...words]));
  const [gitDir, commonDir, hooks] = text?.split('\n').map((path) => realPath(path)) ?? [];
  if (!gitDir || !commonDir || !hooks) return null;
  // A linked worktree has submodules of its own.
  const submodules = [...new Set([commonDir, gitDir])].flatMap((each) => submodulesIn(join(each, 'modules')));
  return { gitDir, commonDir, hooks, submodules };
}

/** Looks below a folder without a HEAD, too: names of submodules may be paths. */
function submodulesIn(folder: string): GitFolders['submodules'] {
  return listDir(folder).flatMap((name) => {
    const gitDir = join(folder, name);
    if (!existsSync(join(gitDir, 'HEAD'))) return submodulesIn(gitDir);
    const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(readText(join(gitDir, 'config')) ?? '')?.[1];
    const own = worktree === undefined ? [] : [{ gitDir, pointer: join(gitDir, worktree, '.git') }];
    return [...own, ...submodulesIn(join(gitDir, 'modules'))];
  });
}

/** Returns the commit of HEAD; null also in a repository without commits. */
export async function headCommit(cwd: string): Promise<string | null> {
  const text = await stdoutOf(runGit(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']));
  return text?.trim() ?? null;
}

/** Counts the commits of HEAD that `since` does not have; all for null. */
export async function countCommits(cwd: string, since: string | null): Promise<number | null> {
  if ((await headCommit(cwd)) === null) return (await gitRoot(cwd)) === null ? null : 0;
  const range = since === null ? ['HEAD'] : ['HEAD', `^${since}`];
  const count = await stdoutOf(runGit(cwd, ['rev-list', '--count', ...range]));
  return count === null ? null : Number(count);
}

/** Returns the tracked ones of these paths, and what is tracked below them, in any case; null outside of a repository. */
export async function trackedPaths(cwd: string, paths: readonly string[]): Promise<string[] | null> {
  const places = paths.map((path) => `:(icase)${path}`);
  const text = await stdoutOf(runGit(cwd, ['ls-files', '-z', '--', ...places]));
  return text?.split('\0').filter(Boolean) ?? null;
}

/** True if tracked files differ from HEAD; null outside of a repository. */
export async function hasChanges(cwd: string): Promise<boolean | null> {
  const words = ['status', '--porcelain', committedOnly, '--untracked-files=no'];
  const text = await stdoutOf(lookWithGit(cwd, words));
  return text === null ? null : text !== '';
}

/** Returns the branch that is checked out; null without one. */
export async function currentBranch(cwd: string): Promise<string | null> {
  const text = await stdoutOf(runGit(cwd, ['symbolic-ref', '--quiet', '--short', 'HEAD']));
  return text?.trim() || null;
}

/** Commits only these paths, without hooks. Returns null, or a line that says why it failed. */
export async function commitPaths(
  cwd: string,
  paths: readonly string[],
  message: string,
): Promise<string | null> {
  if ((await gitRoot(cwd)) === null) return 'this is no git repository';
  for (const words of [
    ['add', '--all', '--', ...paths],
    ['commit', '--quiet', '--message', message, '--', ...paths],
  ]) {
    const result = await lookWithGit(cwd, words, 120_000);
    if (result.exitCode === 0) continue;
    return (result.stderr.trim() || result.stdout.trim() || 'git failed').split('\n')[0] ?? 'git failed';
  }
  return null;
}

async function stdoutOf(call: Promise<CommandResult>): Promise<string | null> {
  const { exitCode, stdout } = await call;
  return exitCode === 0 ? stdout : null;
}

/** Runs git without hooks and without the filters that the configuration or the attributes name. */
export async function lookWithGit(
  cwd: string,
  args: readonly string[],
  timeoutMs = 60_000,
  env: Environment = {},
): Promise<CommandResult> {
  return runGit(cwd, args, timeoutMs, { env: { ...(await withoutPrograms(cwd)), ...env } });
}

/** The same, but with the filters of the user, such as Git LFS: only the repository's own configuration names none. */
export async function runGitForUser(
  cwd: string,
  args: readonly string[],
  timeoutMs = 60_000,
  stdin?: string,
): Promise<CommandResult> {
  const env = await withoutPrograms(cwd, { keepOfUser: true });
  return runGit(cwd, args, timeoutMs, { env, stdin });
}

/** Returns variables that switch hooks and filters off: they may be commands that the agent chose, or programs that it wrote. */
async function withoutPrograms(cwd: string, { keepOfUser = false } = {}): Promise<Environment> {
  const keys = '^filter\\..*\\.(clean|smudge|process|required)$';
  const text = await stdoutOf(runGit(cwd, ['config', '--null', '--show-scope', '--get-regexp', keys]));
  const fields = text?.split('\0') ?? [];
  const values = new Map([['core.hooksPath', '/dev/null']]);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', ...lines] = fields[at + 1]?.split('\n') ?? [];
    const isOfUser = fields[at] !== 'local' && fields[at] !== 'worktree';
    const none = name.endsWith('.required') ? 'false' : '';
    values.set(name, keepOfUser && isOfUser ? lines.join('\n') : (values.get(name) ?? none));
  }
  const first = Number(process.env.GIT_CONFIG_COUNT) || 0;
  const settings = [...values].flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, name],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(first + values.size) };
}

/** Runs git and returns its result, for callers that tell one failure from another. */
export function runGit(
  cwd: string,
  args: readonly string[],
  timeoutMs = 60_000,
  more: { readonly env?: Environment; readonly stdin?: string | Buffer | undefined } = {},
): Promise<CommandResult> {
  const top = findRepository(cwd);
  const pipe = top === null ? undefined : findPipe(top);
  if (pipe !== undefined) return Promise.resolve(unreadable(pipe));
  // A monitor in the repository's own configuration would be a command of the agent that we run.
  const argv: Argv = ['git', '--no-optional-locks', '-c', 'core.fsmonitor=false', ...args];
  const env = { ...gitEnvironment(top ?? cwd), ...more.env };
  return runCommand(argv, { timeoutMs, maxBytes: 64 * 1024 * 1024, ...more, cwd, env });
}

/** Returns a named pipe that an agent put where git reads at almost every call and would wait until its time is over. */
function findPipe(top: string): string | undefined {
  const own = gitFolderOf(top);
  const common = resolve(own, tryReadText(join(own, 'commondir'))?.trim() || '.');
  const branch = /^ref:\s*(\S+)/.exec(tryReadText(join(own, 'HEAD')) ?? '')?.[1] ?? 'HEAD';
  return [
    ...['HEAD', 'index'].map((name) => join(own, name)),
    ...[branch, 'packed-refs', 'info/exclude', 'info/attributes'].map((name) => join(common, name)),
    ...['.gitignore', '.gitattributes'].map((name) => join(top, name)),
  ].find(isPipe);
}

function isPipe(path: string): boolean {
  return attempt(() => statSync(path).isFIFO(), false);
}

function unreadable(path: string): CommandResult {
  const stderr = `fatal: ${path} is not a regular file\n`;
  return { exitCode: 128, signal: null, stdout: '', stderr, timedOut: false, truncated: false };
}

function gitEnvironment(root: string): Environment {
  // A git among the programs of the project may be the agent's.
  const outside = outsideEnvironment(process.env, root);
  const own = Object.entries(outside).filter(([name]) => !foreignVariables.includes(name));
  // In a partial clone, git fetches what is missing, by any command that the repository names as its remote.
  const offline = { GIT_ALLOW_PROTOCOL: 'none' };
  return { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...offline };
}
