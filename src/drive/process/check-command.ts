import { StringDecoder } from 'node:string_decoder';
import { formatDuration } from '../../core/duration.ts';
import { openStreamLog, type StreamLog } from '../../journal/stream-log.ts';
import type { Clock } from '../../os/clock.ts';
import { exitCodeOf } from '../../os/process/exit-code.ts';
import { type Environment, shellCommand, startProcess } from '../../os/process/process.ts';
import { createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import { noSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { inSandbox } from '../../sandbox/start.ts';
import { createExcerpt } from './excerpt.ts';

/** Options of every command that checks the work. */
export type CheckContext = {
  /** Sandbox that they run in; none if left out. */
  readonly sandbox?: Sandbox;
  readonly cwd: string;
  readonly env: Environment;
  readonly run: string;
  readonly iteration: number;
  /** Also ends processes that left the command's process tree. */
  readonly traced?: boolean;
  readonly timeoutMs: number | null;
  /** Most characters of the output that the agent gets. */
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
  /** The part of its output that the agent is shown, cleaned of control characters. */
  readonly output: string;
  readonly truncated: boolean;
};

const maxLogBytes = 64 * 1024 * 1024;
/** Exit code of coreutils' `timeout`. */
const timeoutExitCode = 124;

/** Runs a shell command of the user's to its end; all that it prints goes to the log. */
export async function runCheck(
  command: string,
  logFile: string,
  context: CheckContext,
  timeoutMs: number | null = context.timeoutMs,
): Promise<CheckResult> {
  const { clock, sandbox = noSandbox } = context;
  const started = clock.monotonic();
  const log = openStreamLog(logFile, maxLogBytes);
  const excerpt = createExcerpt(context.maxChars);
  const out = createPipe(context.redact(), log, excerpt.push);
  const err = createPipe(context.redact(), log, excerpt.push);
  const process = startProcess({
    ...inSandbox(sandbox, shellCommand(command), { env: context.env, cwd: context.cwd, stdin: null }),
    cwd: context.cwd,
    runId: context.run,
    traced: context.traced === true && sandbox.provider === 'none',
    iteration: context.iteration,
    idleMs: null,
    hardMs: timeoutMs,
    clock,
    stop: context.stop,
    onStdout: out.push,
    onStderr: err.push,
  });
  try {
    const end = await process.done;
    await sandbox.settle();
    out.end();
    err.end();
    const timedOut = end.cause === 'hard-timeout';
    if (timedOut) {
      const line = `\n[ralph] ended after ${formatDuration(timeoutMs ?? 0)}\n`;
      log.write(line);
      excerpt.push(line);
    }
    if (end.error) throw end.error;
    const { text, truncated } = excerpt.end();
    const exitCode = timedOut ? timeoutExitCode : exitCodeOf(end);
    return {
      ok: exitCode === 0,
      exitCode,
      timedOut,
      ms: clock.monotonic() - started,
      output: text,
      truncated,
    };
  } finally {
    log.close();
  }
}

/** Creates a reader of one output pipe: redacted into the log, cleaned for the agent. */
function createPipe(
  redact: ReturnType<CheckContext['redact']>,
  log: StreamLog,
  keep: (text: string) => void,
) {
  const decoder = new StringDecoder('utf8');
  const cleaner = createTerminalCleaner();
  const take = (bytes: Buffer): void => {
    log.write(bytes);
    keep(cleaner.push(decoder.write(bytes)));
  };
  return {
    push: (chunk: Buffer): void => take(redact.push(chunk)),
    end(): void {
      take(redact.end());
      keep(cleaner.push(decoder.end()) + cleaner.end());
    },
  };
}
