import { formatDuration } from '../../../core/duration.ts';
import { collect } from '../../../os/process/pipes.ts';
import { type Argv, type Environment, findProgram, startProcess } from '../../../os/process/process.ts';
import { cleanTerminal } from '../../../os/terminal/clean-terminal.ts';

/** Folder and environment of the checks, and the signal that ends the programs they started. */
export type Place = { readonly cwd: string; readonly env: Environment; readonly stop: AbortSignal };

export type Answer = {
  /** True if the program ended by itself with code 0. */
  readonly ok: boolean;
  /** All output without control sequences, standard output first. */
  readonly text: string;
  /** Why there is no answer: the program did not start, or did not end. */
  readonly failure?: string;
};

const maxBytes = 64 * 1024;

/** Runs a program without input. It has to answer in time; whatever it leaves running is ended. */
export async function probe(argv: Argv, { cwd, env, stop }: Place, timeoutMs = 15_000): Promise<Answer> {
  const stdout = collect(maxBytes);
  const stderr = collect(maxBytes);
  const { cause, exitCode, error } = await startProcess({
    argv,
    cwd,
    env,
    runId: `doctor-${process.pid}`,
    stdin: null,
    idleMs: null,
    hardMs: timeoutMs,
    stop,
    onStdout: stdout.add,
    onStderr: stderr.add,
  }).done;
  const text = cleanTerminal(`${stdout.text()}\n${stderr.text()}`);
  if (cause === 'exited') return { ok: exitCode === 0, text };
  if (cause === 'hard-timeout') {
    return { ok: false, text, failure: `no answer within ${formatDuration(timeoutMs)}` };
  }
  const failure = findProgram(argv[0], env) === null ? 'not on the PATH' : (error?.message ?? cause);
  return { ok: false, text, failure };
}
