import { RalphError } from '../core/error.ts';
import { splitWords } from '../core/words.ts';
import { hasChanges } from '../system/git.ts';
import { runCommand } from '../system/process.ts';

/** What the agent is asked. */
export const commitMessagePrompt =
  'Provide a short imperative commit message for the changes. Output only the message, no explanation.';

export type ScmTask = { readonly command: string; readonly tasks: readonly string[] };

export type ScmResult = { readonly task: string; readonly ok: boolean; readonly detail: string };

/** Runs the tasks in order and stops at the first that fails. No shell sees the message. */
export async function* runScm(
  { command, tasks }: ScmTask,
  cwd: string,
  askForMessage: () => Promise<string>,
): AsyncGenerator<ScmResult> {
  for (const task of tasks) {
    const words = splitWords(task) ?? [task];
    const commits = words[0] === 'commit';
    if (commits && command === 'git' && (await hasChanges(cwd)) === false) {
      yield { task, ok: true, detail: 'nothing to commit' };
      continue;
    }
    const message = commits ? commitMessage(await askForMessage()) : null;
    if (commits && message === null) {
      throw new RalphError('scm-message', 'the agent gave no commit message; the SCM tasks were left out');
    }
    const more = message === null ? [] : ['-am', message];
    const result = await runCommand([command, ...words, ...more], { cwd, timeoutMs: 10 * 60_000 });
    const ok = result.exitCode === 0;
    const printed = `${result.stdout}\n${result.stderr}`.trim();
    yield {
      task,
      ok,
      detail: ok ? (message ?? printed.split('\n')[0] ?? '') : (result.error?.message ?? printed),
    };
    if (!ok) return;
  }
}

/** The content of the first `<response>` tag, or the first line that is not empty. */
export function commitMessage(answer: string): string | null {
  const tagged = /<response>([\s\S]*?)<\/response>/i.exec(answer)?.[1];
  const text = tagged ?? answer.split('\n').find((line) => line.trim() !== '');
  return text?.trim() || null;
}
