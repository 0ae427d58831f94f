import type { AgentAdapter, AgentEvent, AgentTask } from '../agents/adapter.ts';
import { createTurnReader, type StreamedTurn } from '../agents/turn.ts';
import type { Sandbox } from '../safety/sandbox/sandbox.ts';
import { inSandbox } from '../safety/sandbox/start.ts';
import { openStreamLog } from '../store/stream-log.ts';
import type { Clock } from '../system/clock.ts';
import { createLineSplitter } from '../system/lines.ts';
import { keepMemorySmall } from '../system/memory.ts';
import { type Environment, type ProcessEnd, startProcess } from '../system/process.ts';

export type AgentTurnSpec = {
  readonly adapter: AgentAdapter;
  readonly version: string | null;
  /** The program as it was found on the PATH. */
  readonly program: string;
  readonly task: AgentTask;
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly env: Environment;
  readonly run: string;
  readonly iteration: number;
  readonly idleMs: number | null;
  readonly hardMs: number | null;
  readonly graceMs: number;
  /** What it leaves running is found also where it hides: somebody else's turn depends on it. */
  readonly traced: boolean;
  /** Text that is no event of the stream is an answer, too. */
  readonly plainText?: boolean;
  /** Where the raw stream is kept. */
  readonly logFile: string;
  readonly redact: { push(chunk: Buffer): Buffer; end(): Buffer };
  readonly clock: Clock;
  readonly stop: AbortSignal;
  started(pid: number | null, argv: readonly string[]): void;
  event(event: AgentEvent): void;
  stderr(text: string): void;
  /** The stream said that the turn is over; the process may still run for a moment. */
  resultSeen(): void;
};

export type AgentTurn = StreamedTurn & { readonly process: ProcessEnd; readonly ms: number };

const stderrTailChars = 4000;

/** Runs the agent once, from its start to the end of its process tree. */
export async function runAgentTurn(spec: AgentTurnSpec): Promise<AgentTurn> {
  const { adapter, clock } = spec;
  const started = clock.monotonic();
  const command = adapter.command(spec.task, spec.version, 'stream');
  const argv = [spec.program, ...command.args] as const;
  const reader = createTurnReader(adapter, {
    now: () => clock.now(),
    resumed: spec.task.resumeSession !== undefined,
    plainText: spec.plainText ?? false,
  });
  const log = openStreamLog(spec.logFile);
  const openTools = new Set<string>();
  let stderrTail = '';

  const lines = createLineSplitter((line) => {
    const wasOver = reader.ended;
    for (const event of reader.pushBytes(line)) take(event, wasOver);
    process.touch();
    if (reader.ended && !wasOver) {
      process.finish();
      spec.resultSeen();
    }
  });

  function take(event: AgentEvent, wasOver: boolean): void {
    if (event.type === 'tool-start') openTools.add(event.id);
    if (event.type === 'tool-end') openTools.delete(event.id);
    if (openTools.size > 0) process.pauseIdle();
    else process.resumeIdle();
    // Some agents go on after a result, for instance when a background task comes back.
    if (wasOver && (event.type === 'text' || event.type === 'tool-start')) process.reopen();
    if (wasOver && event.type === 'result') process.finish();
    spec.event(event);
  }

  const env = { ...spec.env, ...command.env };
  const inside = inSandbox(spec.sandbox, argv, { env, cwd: spec.cwd, stdin: command.stdin });
  const process = startProcess({
    ...inside,
    cwd: spec.cwd,
    runId: spec.run,
    traced: spec.traced && spec.sandbox.provider === 'none',
    iteration: spec.iteration,
    idleMs: spec.idleMs,
    hardMs: spec.hardMs,
    graceMs: spec.graceMs,
    clock,
    onStdout(chunk) {
      log.write(spec.redact.push(chunk));
      lines.push(chunk);
    },
    onStderr(chunk) {
      const text = chunk.toString('utf8');
      stderrTail = `${stderrTail}${text}`.slice(-stderrTailChars);
      spec.stderr(inside.withoutMarker(text));
    },
  });
  spec.started(process.pid, argv);
  keepMemorySmall();
  const stop = () => process.stop();
  spec.stop.addEventListener('abort', stop, { once: true });
  if (spec.stop.aborted) stop();

  try {
    const end = await process.done;
    await spec.sandbox.settle();
    const failure = end.cause === 'exited' ? inside.failure?.(end.exitCode, stderrTail) : null;
    if (failure) throw failure;
    lines.end();
    log.write(spec.redact.end());
    const turn = reader.finish({ exitCode: end.exitCode, cause: end.cause, stderrTail });
    if (end.error && end.cause !== 'not-started') throw end.error;
    return { ...turn, process: end, ms: clock.monotonic() - started };
  } finally {
    spec.stop.removeEventListener('abort', stop);
    log.close();
  }
}
