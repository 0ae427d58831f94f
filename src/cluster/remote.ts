import { runGit } from '../os/git/git.ts';
import type { CommandResult, Environment } from '../os/process/process.ts';

/** A branch on the remote. */
export type RemoteBranch =
  | { readonly kind: 'found'; readonly commit: string }
  /** The first push makes it, starting from this commit. */
  | { readonly kind: 'absent'; readonly from: string }
  | { readonly kind: 'unreachable'; readonly why: string }
  /** The repository or the branch does not exist. */
  | { readonly kind: 'missing'; readonly why: string };

export type Pushed =
  | { readonly kind: 'pushed' }
  /** Another machine moved the branch. */
  | { readonly kind: 'fenced'; readonly remoteCommit: string | null }
  | { readonly kind: 'unreachable'; readonly why: string }
  /** The server rejected the push. */
  | { readonly kind: 'refused'; readonly why: string };

/** Where the work of a loop is. */
type WorkPlace = { readonly repo: string; readonly branch: string; readonly base: string | null };

const transferMs = 30 * 60_000;
const askMs = 2 * 60_000;

/** Fetches a branch, or the base of a new one, into a repository at `ref`. */
export async function fetchBranch(repository: string, source: WorkPlace, ref: string): Promise<RemoteBranch> {
  const look = await lookAtRemote(repository, source);
  if (look.kind !== 'found') return look;
  const { from } = look;
  const { repo, branch } = source;
  const words = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', repo, `+${from}:${ref}`];
  const fetched = await git(repository, words, transferMs);
  if (fetched.exitCode !== 0) return { kind: 'unreachable', why: lastLine(fetched) };
  const { stdout } = await git(repository, ['rev-parse', '--verify', `${ref}^{commit}`], askMs);
  const commit = stdout.trim();
  return from === `refs/heads/${branch}` ? { kind: 'found', commit } : { kind: 'absent', from: commit };
}

/** Asks a repository for the branch of a loop, or its base; `from` is the ref that the work starts from. */
export async function lookAtRemote(
  cwd: string,
  { repo, branch, base }: WorkPlace,
): Promise<Extract<RemoteBranch, { why: string }> | { readonly kind: 'found'; readonly from: string }> {
  const baseRef = base === null ? 'HEAD' : `refs/heads/${base}`;
  const list = await git(cwd, ['ls-remote', '--', repo, `refs/heads/${branch}`, baseRef], askMs);
  if (list.exitCode !== 0) {
    const why = lastLine(list);
    return { kind: isMissingRepository(why) ? 'missing' : 'unreachable', why };
  }
  const names = commitsByName(list);
  const from = names.has(`refs/heads/${branch}`) ? `refs/heads/${branch}` : baseRef;
  if (!names.has(from)) {
    const what = base === null ? 'no commit' : `no branch ${branch} and no branch ${base}`;
    return { kind: 'missing', why: `there is ${what} in ${repo}` };
  }
  return { kind: 'found', from };
}

/** Moves the remote branch from `before` to `commit`, if it still is at `before` (null: does not exist). */
export async function pushBranch(
  repository: string,
  { repo, branch }: { readonly repo: string; readonly branch: string },
  before: string | null,
  commit: string,
): Promise<Pushed> {
  const name = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${name}:${before ?? ''}`;
  const words = ['push', '--porcelain', '--no-verify', lease, '--', repo, `${commit}:${name}`];
  const pushed = await git(repository, words, transferMs);
  if (pushed.exitCode === 0) return { kind: 'pushed' };
  const why = /^!\t\S+\t(.*)$/m.exec(pushed.stdout)?.[1] ?? lastLine(pushed);
  const list = await git(repository, ['ls-remote', '--', repo, name], askMs);
  if (list.exitCode !== 0) return { kind: 'unreachable', why };
  const remote = commitsByName(list).get(name) ?? null;
  // The push may have succeeded while its answer was lost.
  if (remote === commit) return { kind: 'pushed' };
  if (remote !== before) return { kind: 'fenced', remoteCommit: remote };
  return /^\[remote rejected\]/.test(why) ? { kind: 'refused', why } : { kind: 'unreachable', why };
}

/** True if git says that there is no such repository: the words of git for folders, of HTTP and of forges over SSH. */
function isMissingRepository(why: string): boolean {
  return /does not appear to be a git repository|repository .*not found|does not exist/i.test(why);
}

function commitsByName({ stdout }: CommandResult): Map<string, string> {
  const entries = stdout.split('\n').map((line) => line.split('\t'));
  return new Map(entries.flatMap(([commit = '', name]) => (name === undefined ? [] : [[name, commit]])));
}

/** Allows the usual protocols only: with `ext::`, a submitted loop could name a command to run. */
const gitEnvironment: Environment = {
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  GIT_SSH_COMMAND: process.env.GIT_SSH_COMMAND ?? 'ssh -o BatchMode=yes',
};

function git(repository: string, words: readonly string[], timeoutMs: number): Promise<CommandResult> {
  // An agent may have written hooks.
  const env = gitEnvironment;
  return runGit(repository, ['-c', 'core.hooksPath=/dev/null', ...words], timeoutMs, { env });
}

function lastLine({ stderr, timedOut, error }: CommandResult): string {
  if (timedOut) return 'git took too long';
  const lines = stderr.trim().split('\n').filter(Boolean);
  const line = lines.find((one) => /^(?:fatal|error|remote): /.test(one)) ?? lines.at(-1);
  return line?.replace(/^(?:fatal|error): /, '') ?? error?.message ?? 'git failed';
}
