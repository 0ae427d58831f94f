import { formatDuration } from '../../../core/duration.ts';
import { collect } from '../../../os/process/pipes.ts';
import { type Argv, type Environment, findProgram, startProcess } from '../../../os/process/process.ts';
import { cleanTerminal } from '../../../os/terminal/clean-terminal.ts';

/** Where checks look, and the signal that ends what they have started. */
export type Place = { readonly cwd: string; readonly env: Environment; readonly stop: AbortSignal };

export type Answer = {
  /** Ended by itself with code 0. */
  readonly ok: boolean;
  /** All that it printed, without control sequences; what it printed on standard output comes first. */
  readonly text: string;
  /** Why there is no answer: it did not start, or did not end. */
  readonly failure?: string;
};

const maxBytes = 64 * 1024;

/** Asks a program something. It gets no input, has to answer in time, and leaves nothing running. */
export async function probe(argv: Argv, { cwd, env, stop }: Place, timeoutMs = 15_000): Promise<Answer> {
  const stdout = collect(maxBytes);
  const stderr = collect(maxBytes);
  const running = startProcess({
    argv,
    cwd,
    env,
    runId: `doctor-${process.pid}`,
    stdin: null,
    idleMs: null,
    hardMs: timeoutMs,
    onStdout: stdout.add,
    onStderr: stderr.add,
  });
  const end = () => running.stop();
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  const { cause, exitCode, error } = await running.done;
  stop.removeEventListener('abort', end);
  const text = cleanTerminal(`${stdout.text()}\n${stderr.text()}`);
  if (cause === 'exited') return { ok: exitCode === 0, text };
  if (cause === 'hard-timeout') {
    return { ok: false, text, failure: `no answer within ${formatDuration(timeoutMs)}` };
  }
  const failure = findProgram(argv[0], env) === null ? 'not on the PATH' : (error?.message ?? cause);
  return { ok: false, text, failure };
}
