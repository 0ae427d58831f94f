import { StringDecoder } from 'node:string_decoder';
import { formatDuration } from '../../core/duration.ts';
import { openStreamLog, type StreamLog } from '../../journal/stream-log.ts';
import { exitCodeOf } from '../../os/process/exit-code.ts';
import { shellCommand, startProcess } from '../../os/process/process.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { inSandbox } from '../../sandbox/start.ts';
import { createExcerpt } from './excerpt.ts';
import type { RunSpec } from './run-spec.ts';

/** Iteration whose work a command checks, and the sandbox that it runs in. */
export type CheckContext = { readonly spec: RunSpec; readonly iteration: number; readonly sandbox: Sandbox };

const maxLogBytes = 64 * 1024 * 1024;
/** Exit code of coreutils' `timeout`. */
const timeoutExitCode = 124;

/** Runs a shell command of the user's to its end; all that it prints goes to the log. */
export async function runCheck(
  command: string,
  logFile: string,
  { spec, iteration, sandbox }: CheckContext,
  timeoutMs: number | null = spec.settings.guardrailTimeout,
) {
  const { cwd, env, run, clock, stop, redactor } = spec;
  const started = clock.monotonic();
  const log = openStreamLog(logFile, maxLogBytes);
  const excerpt = createExcerpt(spec.settings.outputTruncateChars);
  const out = createPipe(redactor, log, excerpt.push);
  const err = createPipe(redactor, log, excerpt.push);
  const process = startProcess({
    ...inSandbox(sandbox, shellCommand(command), { env, cwd, stdin: null }),
    cwd,
    runId: run,
    traced: spec.kind.traced && sandbox.provider === 'none',
    iteration,
    idleMs: null,
    hardMs: timeoutMs,
    clock,
    stop,
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
    const ms = clock.monotonic() - started;
    return { ok: exitCode === 0, exitCode, timedOut, ms, output: text, truncated };
  } finally {
    log.close();
  }
}

/** Creates a reader of one output pipe: redacted into the log, cleaned for the agent. */
function createPipe(redactor: Redactor, log: StreamLog, keep: (text: string) => void) {
  const redact = redactor.stream();
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
