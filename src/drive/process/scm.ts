import { basename, isAbsolute } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { splitWords } from '../../core/words.ts';
import { nothingToCommit } from '../../journal/events.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { hasChanges } from '../../os/git/git.ts';
import { pushTo } from '../../os/git/push.ts';
import { collect } from '../../os/process/pipes.ts';
import { type Environment, findProgram, outsideEnvironment, startProcess } from '../../os/process/process.ts';
import { noSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { inSandbox } from '../../sandbox/start.ts';
import { agentTask } from './agent-turn.ts';
import type { RunSpec } from './run-spec.ts';

const messageTimeoutMs = 5 * 60_000;
const taskTimeoutMs = 10 * 60_000;
const mostNames = 5;
const messagePrompt =
  'Provide a short imperative commit message for the changes. Output only the message, no explanation.';

type ScmResult = { readonly task: string; readonly ok: boolean; readonly detail: string };

/** Options of a git outside of the sandbox: no hooks and no submodules, whose configuration may be the agent's. */
const withoutAgents = [
  'core.hooksPath=/dev/null',
  ...['push.recurseSubmodules=no', 'fetch.recurseSubmodules=no', 'submodule.recurse=no'],
].flatMap((setting) => ['-c', setting]);

/** Runs the tasks in order and stops at the first that fails. No shell sees the message. */
export async function* runScm(
  { command, tasks }: NonNullable<RunSpec['settings']['scm']>,
  spec: RunSpec,
  sandbox: Sandbox,
): AsyncGenerator<ScmResult> {
  // The repository that was there at the start: the agent may have made another one around our folder.
  const root = spec.workingCopy.root ?? spec.cwd;
  const env = outsideEnvironment(spec.env, root);
  const name = basename(command);
  for (const task of tasks) {
    const words = splitWords(task) ?? [task];
    const commits = words[0] === 'commit';
    const isGitCommit = commits && name === 'git';
    const { fresh, old } = isGitCommit ? await spec.workingCopy.untracked() : { fresh: [], old: [] };
    const leftOut = old.length === 0 ? '' : ` (left out, untracked before the run: ${shortList(old)})`;
    if (isGitCommit && fresh.length === 0 && (await hasChanges(root)) === false) {
      yield { task, ok: true, detail: `${nothingToCommit}${leftOut}` };
      continue;
    }
    const message = commits ? commitMessage(await askForMessage(spec, sandbox)) : null;
    if (commits && message === null) {
      throw new RalphError('scm-message', 'the agent gave no commit message; the SCM tasks were left out');
    }
    const more = message === null ? [] : ['-am', message];
    if (spec.stop.aborted) return;
    const refusal = fresh.length === 0 ? null : await addFiles(spec, [command, '-C', root], fresh, sandbox);
    if (refusal !== null) return yield { task, ok: false, detail: refusal };
    const push =
      name === 'git' && words[0] === 'push' ? await pushTo(root, spec.view.branch, words) : { words };
    if ('refused' in push) return yield { task, ok: false, detail: push.refused };
    // These need the user's own login. All else runs what the agent wrote: hooks, filters, what a repository names. What
    // another program than git obeys in a project nobody can know.
    const needsLogin = name === 'git' && (words[0] === 'push' || words[0] === 'fetch');
    const outside = sandbox !== noSandbox && needsLogin && !isOfProject(command, env, root);
    const careful = outside ? withoutAgents : [];
    const { end, output } = await runSideProcess(spec, [command, ...careful, ...push.words, ...more], {
      ...(outside ? { cwd: root, env } : { sandbox }),
      timeoutMs: taskTimeoutMs,
    });
    const ok = end.exitCode === 0;
    const text = output.trim();
    yield {
      task,
      ok,
      detail: ok ? `${message ?? text.split('\n')[0] ?? ''}${leftOut}` : (end.error?.message ?? text),
    };
    if (!ok) return;
  }
}

/** Adds new files to the index, which `commit -am` leaves out. Returns null, or why that failed. */
async function addFiles(
  spec: RunSpec,
  git: readonly [string, ...string[]],
  paths: readonly string[],
  sandbox: Sandbox,
): Promise<string | null> {
  const words = ['--literal-pathspecs', 'add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const { end, output } = await runSideProcess(spec, [...git, ...words], {
    stdin: paths.join('\0'),
    sandbox,
    timeoutMs: taskTimeoutMs,
  });
  return end.exitCode === 0 ? null : (end.error?.message ?? output.trim());
}

function shortList(paths: readonly string[]): string {
  const more = paths.length > mostNames ? ` and ${paths.length - mostNames} more` : '';
  return `${paths.slice(0, mostNames).join(', ')}${more}`;
}

/** Asks the agent for a commit message, outside the loop. Returns what it printed; nothing if it failed. */
async function askForMessage(spec: RunSpec, sandbox: Sandbox): Promise<string> {
  const { adapter, program, version, guard } = spec.agent;
  // The protocol has no short answers, and another whole session is too much for one line.
  if (adapter.protocol === 'acp') return `Changes of the run ${spec.run}`;
  const task = { ...agentTask(spec), prompt: messagePrompt };
  const { args, stdin, env } = adapter.command(task, version, 'text');
  const { end, stdout } = await runSideProcess(spec, [program, ...args], {
    alone: { ...spec.settings.agent.env, ...guard.env, ...env },
    stdin,
    sandbox,
    timeoutMs: messageTimeoutMs,
  });
  return end.exitCode === 0 ? stdout : '';
}

/** True if the program may be one that the agent wrote. */
function isOfProject(command: string, env: Environment, root: string): boolean {
  const program = findProgram(command, env);
  return program === null || !isAbsolute(program) || isWithin(realPath(program), realPath(root));
}

/** Returns the content of the first `<response>` tag, or the first line that is not empty. */
function commitMessage(answer: string): string | null {
  const content = /<response>([\s\S]*?)<\/response>/i.exec(answer)?.[1];
  const text = content ?? answer.split('\n').find((line) => line.trim() !== '');
  return text?.trim() || null;
}

const maxBytes = 1_000_000;

/** Runs a process beside the agent's turns. It carries the run's id and ends when the run is stopped. */
async function runSideProcess(
  spec: RunSpec,
  argv: readonly [string, ...string[]],
  options: {
    readonly env?: Environment;
    readonly alone?: Environment;
    readonly cwd?: string;
    readonly stdin?: string | null;
    readonly sandbox?: Sandbox;
    readonly timeoutMs: number;
  },
) {
  const stdout = collect(maxBytes);
  const output = collect(maxBytes);
  const { env = spec.env, alone = {}, cwd = spec.cwd, stdin = null, sandbox = noSandbox } = options;
  const { done } = startProcess({
    ...inSandbox(sandbox, argv, { env, alone, cwd, stdin }),
    cwd,
    runId: spec.run,
    idleMs: null,
    hardMs: options.timeoutMs,
    clock: spec.clock,
    stop: spec.stop,
    onStdout(chunk) {
      stdout.add(chunk);
      output.add(chunk);
    },
    onStderr: output.add,
  });
  const end = await done;
  await sandbox.settle();
  return { end, stdout: stdout.text(), output: output.text() };
}
