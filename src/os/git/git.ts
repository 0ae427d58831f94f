import { existsSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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
const foreignVariables = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** Returns the top folder of the working copy; null outside of one, or without git. */
export async function gitRoot(cwd: string): Promise<string | null> {
  const result = await git(cwd, ['rev-parse', '--show-toplevel']);
  return result?.stdout.replace(/\r?\n$/, '') || null;
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
  const head = linkOf(join(gitDir, 'HEAD')) ?? tryReadText(join(gitDir, 'HEAD'));
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

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** False for an empty folder of that name, which git skips, too. */
function isRepository(path: string): boolean {
  return existsSync(join(path, 'HEAD')) || lstatOf(path)?.isDirectory() === false;
}

function isFilled(path: string): boolean {
  try {
    return listDir(path).length > 0;
  } catch {
    // A folder that we may not read is not ours.
    return false;
  }
}

/** Folders of a repository. */
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
  const words = [
    'rev-parse',
    '--path-format=absolute',
    '--git-dir',
    '--git-common-dir',
    '--git-path',
    'hooks',
  ];
  const result = await git(cwd, words);
  const [gitDir, commonDir, hooks] = result?.stdout.split('\n').map((path) => realPath(path)) ?? [];
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
  const result = await git(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return result?.stdout.trim() ?? null;
}

/** Counts the commits of HEAD that `since` does not have; all for null. */
export async function countCommits(cwd: string, since: string | null): Promise<number | null> {
  if ((await headCommit(cwd)) === null) return (await gitRoot(cwd)) === null ? null : 0;
  const range = since === null ? ['HEAD'] : ['HEAD', `^${since}`];
  const result = await git(cwd, ['rev-list', '--count', ...range]);
  return result === null ? null : Number(result.stdout);
}

/** True if tracked files differ from HEAD; null outside of a repository. */
export async function hasChanges(cwd: string): Promise<boolean | null> {
  const result = await look(cwd, ['status', '--porcelain', committedOnly, '--untracked-files=no']);
  return result === null ? null : result.stdout !== '';
}

/** Returns the branch that is checked out; null without one. */
export async function currentBranch(cwd: string): Promise<string | null> {
  const result = await git(cwd, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  return result?.stdout.trim() || null;
}

/** Commits only these paths, without hooks. Returns null, or a line that says why it failed. */
export async function commitPaths(
  cwd: string,
  paths: readonly string[],
  message: string,
): Promise<string | null> {
  if ((await gitRoot(cwd)) === null) return 'this is no git repository';
  const env = { ...gitEnvironment(cwd), ...(await withoutPrograms(cwd)) };
  for (const words of [
    ['add', '--all', '--', ...paths],
    ['commit', '--quiet', '--message', message, '--', ...paths],
  ]) {
    const argv = ['git', '-c', 'core.fsmonitor=false', ...words] as const;
    const result = await runCommand(argv, { cwd, env, timeoutMs: 120_000 });
    if (result.exitCode === 0) continue;
    return (result.stderr.trim() || result.stdout.trim() || 'git failed').split('\n')[0] ?? 'git failed';
  }
  return null;
}

async function git(cwd: string, args: readonly string[]): Promise<CommandResult | null> {
  const result = await runGit(cwd, args);
  return result.exitCode === 0 ? result : null;
}

async function look(cwd: string, args: readonly string[]): Promise<CommandResult | null> {
  const result = await lookWithGit(cwd, args);
  return result.exitCode === 0 ? result : null;
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
): Promise<CommandResult> {
  return runGit(cwd, args, timeoutMs, { env: await withoutPrograms(cwd, { keepOfUser: true }) });
}

/** Returns variables that switch hooks and filters off: they may be commands that the agent chose, or programs that it wrote. */
async function withoutPrograms(cwd: string, { keepOfUser = false } = {}): Promise<Environment> {
  const keys = '^filter\\..*\\.(clean|smudge|process|required)$';
  const listing = await git(cwd, ['config', '--null', '--show-scope', '--get-regexp', keys]);
  const fields = listing?.stdout.split('\0') ?? [];
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
  more: { readonly env?: Environment; readonly stdin?: string | Buffer } = {},
): Promise<CommandResult> {
  const pipe = findPipe(cwd);
  if (pipe !== undefined) return Promise.resolve(unreadable(pipe));
  // A monitor in the repository's own configuration would be a command of the agent that we run.
  const argv: Argv = ['git', '--no-optional-locks', '-c', 'core.fsmonitor=false', ...args];
  const env = { ...gitEnvironment(cwd), ...more.env };
  return runCommand(argv, { timeoutMs, maxBytes: 64 * 1024 * 1024, ...more, cwd, env });
}

/** Returns a named pipe that an agent put where git reads at almost every call and would wait until its time is over. */
function findPipe(cwd: string): string | undefined {
  const top = findRepository(cwd);
  if (top === null) return undefined;
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
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  } catch {
    return false;
  }
}

function unreadable(path: string): CommandResult {
  const stderr = `fatal: ${path} is not a regular file\n`;
  return { exitCode: 128, signal: null, stdout: '', stderr, timedOut: false, truncated: false };
}

function gitEnvironment(cwd: string): Environment {
  // A git among the programs of the project may be the agent's.
  const outside = outsideEnvironment(process.env, findRepository(cwd) ?? cwd);
  const own = Object.entries(outside).filter(([name]) => !foreignVariables.has(name));
  // In a partial clone, git fetches what is missing, by any command that the repository names as its remote.
  const offline = { GIT_ALLOW_PROTOCOL: 'none' };
  return { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...offline };
}
