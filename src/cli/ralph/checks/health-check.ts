import { formatDuration } from '../../../core/duration.ts';
import { collect } from '../../../os/process/pipes.ts';
import { type Argv, type Environment, findProgram, startProcess } from '../../../os/process/process.ts';
import { cleanTerminal } from '../../../os/terminal/clean-terminal.ts';

/** The result of one check of `ralph doctor`: what it saw, and what to do about it. */
export type HealthCheck = {
  readonly id: string;
  /** The agent that the check is about, if any. */
  readonly agent?: string;
  /** `skipped` if nothing could be found out. */
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly evidence: string;
  readonly remedy?: string;
};

/** Makes the results of the check `id`. */
export function resultsOf(id: string, agent?: string) {
  const about = agent === undefined ? { id } : { id, agent };
  const result = (status: HealthCheck['status']) => {
    return (evidence: string, remedy?: string): HealthCheck => ({
      ...about,
      status,
      evidence,
      ...(remedy === undefined ? {} : { remedy }),
    });
  };
  return { ok: result('ok'), warning: result('warning'), error: result('error'), skipped: result('skipped') };
}

export function hasError(checks: readonly HealthCheck[]): boolean {
  return checks.some(({ status }) => status === 'error');
}

/** The first line that is not blank, cleaned for a terminal. */
export function firstLine(text: string): string {
  const line = cleanTerminal(text)
    .split('\n')
    .find((candidate) => candidate.trim() !== '');
  return line?.trim().slice(0, 200) ?? 'nothing';
}

/** Folder and environment of the checks, and the signal that ends the programs they started. */
export type Place = { readonly cwd: string; readonly env: Environment; readonly stop: AbortSignal };

const maxBytes = 64 * 1024;

/**
 * Runs a program without input, and returns all its output without control sequences, standard output first. `failure` says
 * why it did not end by itself. Whatever it leaves running is ended.
 */
export async function probe(argv: Argv, { cwd, env, stop }: Place, timeoutMs = 15_000) {
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
