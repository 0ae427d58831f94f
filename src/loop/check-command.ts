import { StringDecoder } from 'node:string_decoder';
import { formatDuration } from '../core/duration.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { openStreamLog } from '../store/stream-log.ts';
import type { Clock } from '../system/clock.ts';
import { type Environment, type ProcessEnd, shellCommand, startProcess } from '../system/process.ts';

/** What every command that checks the work is run with. */
export type CheckContext = {
  readonly cwd: string;
  readonly env: Environment;
  readonly run: string;
  readonly iteration: number;
  readonly timeoutMs: number | null;
  /** How much of the output the agent is told. */
  readonly maxChars: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly redact: () => { push(chunk: Buffer): Buffer; end(): Buffer };
};

export type CheckResult = {
  readonly ok: boolean;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly ms: number;
  /** The beginning of what it printed, cleaned of control characters. */
  readonly output: string;
};

const maxLogBytes = 64 * 1024 * 1024;
/** What `timeout` of coreutils exits with. */
const timeoutExitCode = 124;

/** Runs a shell command of the user's to its end; all that it prints goes to the log. */
export async function runCheck(
  command: string,
  logFile: string,
  context: CheckContext,
  timeoutMs: number | null = context.timeoutMs,
): Promise<CheckResult> {
  const { clock } = context;
  const started = clock.monotonic();
  const log = openStreamLog(logFile, maxLogBytes);
  const out = context.redact();
  const err = context.redact();
  const decoder = new StringDecoder('utf8');
  let head = '';
  const keep = (bytes: Buffer): void => {
    log.write(bytes);
    // Cleaning and cutting come later: keep a little more than is asked for.
    if (head.length <= context.maxChars * 2) head += decoder.write(bytes);
  };
  const process = startProcess({
    argv: shellCommand(command),
    cwd: context.cwd,
    env: context.env,
    runId: context.run,
    iteration: context.iteration,
    stdin: null,
    idleMs: null,
    hardMs: timeoutMs,
    clock,
    onStdout: (chunk) => keep(out.push(chunk)),
    onStderr: (chunk) => keep(err.push(chunk)),
  });
  const stop = () => process.stop();
  context.stop.addEventListener('abort', stop, { once: true });
  try {
    const end = await process.done;
    keep(out.end());
    keep(err.end());
    const timedOut = end.cause === 'hard-timeout';
    if (timedOut) keep(Buffer.from(`\n[ralph] ended after ${formatDuration(timeoutMs ?? 0)}\n`));
    if (end.error) throw end.error;
    const exitCode = timedOut ? timeoutExitCode : exitCodeOf(end);
    return {
      ok: exitCode === 0,
      exitCode,
      timedOut,
      ms: clock.monotonic() - started,
      output: cleanTerminal(head),
    };
  } finally {
    context.stop.removeEventListener('abort', stop);
    log.close();
  }
}

function exitCodeOf(end: ProcessEnd): number | null {
  return end.exitCode ?? (end.signal === null ? null : 128);
}
