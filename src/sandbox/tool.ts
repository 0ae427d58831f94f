import { RalphError } from '../core/error.ts';
import { type Argv, type CommandResult, type Environment, runCommand } from '../os/process/process.ts';
import { cleanTerminal } from '../os/terminal/clean-terminal.ts';

type AskOptions = { readonly stdin?: string; readonly timeoutMs?: number };

export type Tool = ReturnType<typeof createTool>;

/** Runs a program that keeps sandboxes: without input unless some is given, and with a time limit. */
export function createTool(command: Argv, env: Environment) {
  const ask = (words: readonly string[], { stdin, timeoutMs = 60_000 }: AskOptions = {}) =>
    runCommand([...command, ...words], { cwd: '/', env, timeoutMs, stdin });
  return {
    command,
    /** Never rejects. */
    ask,
    /** The same, but a failure is an error. */
    async must(words: readonly string[], options?: AskOptions): Promise<string> {
      const result = await ask(words, options);
      if (result.exitCode === 0) return result.stdout;
      const name = [...command, ...words.slice(0, 2)].join(' ');
      throw new RalphError('sandbox-tool', `${name} failed: ${reasonOf(result)}`, {
        remedy: `try it yourself: ${[...command, ...words].join(' ')}`,
      });
    },
  };
}

/** Returns the reason that a program printed, in one line. */
export function reasonOf({ stderr, stdout, exitCode, timedOut, error }: CommandResult): string {
  if (timedOut) return 'no answer in time';
  const lines = cleanTerminal(stderr.trim() || stdout.trim())
    .split('\n')
    .filter((line) => line.trim() !== '');
  const reason = lines.find((line) => !/^\W*(?:time=\S+ level=)?warn/i.test(line)) ?? lines[0];
  return reason?.trim() ?? error?.message ?? `exit code ${exitCode}`;
}
