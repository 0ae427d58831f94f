import { basename, isAbsolute } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { RalphError } from '../../core/error.ts';
import { splitWords } from '../../core/words.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { hasChanges } from '../../os/git/git.ts';
import { pushTo } from '../../os/git/push.ts';
import {
  type Environment,
  findProgram,
  outsideEnvironment,
  type ProcessEnd,
  startProcess,
} from '../../os/process/process.ts';
import { noSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { inSandbox } from '../../sandbox/start.ts';
import { agentTask } from './agent-turn.ts';
import type { RunSpec } from './run-spec.ts';

const messageTimeoutMs = 5 * 60_000;
const messagePrompt =
  'Provide a short imperative commit message for the changes. Output only the message, no explanation.';

export type ScmTask = { readonly command: string; readonly tasks: readonly string[] };

export type ScmResult = { readonly task: string; readonly ok: boolean; readonly detail: string };

/** Options of a git outside of the sandbox: no hooks and no submodules, whose configuration may be the agent's. */
const withoutAgents = [
  'core.hooksPath=/dev/null',
  ...['push.recurseSubmodules=no', 'fetch.recurseSubmodules=no', 'submodule.recurse=no'],
].flatMap((setting) => ['-c', setting]);

/** Runs the tasks in order and stops at the first that fails. No shell sees the message. */
export async function* runScm(
  { command, tasks }: ScmTask,
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
    if (commits && name === 'git' && (await hasChanges(root)) === false) {
      yield { task, ok: true, detail: 'nothing to commit (new files are not part of commit -am)' };
      continue;
    }
    const message = commits ? commitMessage(await askForMessage(spec, sandbox)) : null;
    if (commits && message === null) {
      throw new RalphError('scm-message', 'the agent gave no commit message; the SCM tasks were left out');
    }
    const more = message === null ? [] : ['-am', message];
    if (spec.stop.aborted) return;
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
      timeoutMs: 10 * 60_000,
    });
    const ok = end.exitCode === 0;
    const text = output.trim();
    yield {
      task,
      ok,
      detail: ok ? (message ?? text.split('\n')[0] ?? '') : (end.error?.message ?? text),
    };
    if (!ok) return;
  }
}

/** Asks the agent for a commit message, outside the loop. Returns what it printed; nothing if it failed. */
async function askForMessage(spec: RunSpec, sandbox: Sandbox): Promise<string> {
  const { adapter, program, version, guard } = spec.agent;
  const task = { ...agentTask(spec), prompt: messagePrompt };
  const { args, stdin, env } = adapter.command(task, version, 'text');
  const { end, stdout } = await runSideProcess(spec, [program, ...args], {
    env: { ...spec.env, ...spec.settings.agent.env, ...guard.env, ...env },
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

type SideResult = { readonly end: ProcessEnd; readonly stdout: string; readonly output: string };

const maxChars = 1_000_000;

/** Runs a process beside the agent's turns. It carries the run's id and ends when the run is stopped. */
async function runSideProcess(
  spec: RunSpec,
  argv: readonly [string, ...string[]],
  options: {
    readonly env?: Environment;
    readonly cwd?: string;
    readonly stdin?: string | null;
    readonly sandbox?: Sandbox;
    readonly timeoutMs: number;
  },
): Promise<SideResult> {
  const [out, err] = [new StringDecoder('utf8'), new StringDecoder('utf8')];
  let stdout = '';
  let output = '';
  const keep = (text: string): void => {
    if (output.length < maxChars) output += text;
  };
  const { env = spec.env, cwd = spec.cwd, stdin = null, sandbox = noSandbox } = options;
  const { done } = startProcess({
    ...inSandbox(sandbox, argv, { env, cwd, stdin }),
    cwd,
    runId: spec.run,
    idleMs: null,
    hardMs: options.timeoutMs,
    clock: spec.clock,
    stop: spec.stop,
    onStdout(chunk) {
      const text = out.write(chunk);
      if (stdout.length < maxChars) stdout += text;
      keep(text);
    },
    onStderr: (chunk) => keep(err.write(chunk)),
  });
  const end = await done;
  await sandbox.settle();
  return { end, stdout, output };
}
