import { StringDecoder } from 'node:string_decoder';
import type { Check } from '../core/evidence.ts';
import { defuseTags, guardrailMessage, slugOf } from '../core/feedback.ts';
import type { FailAction } from '../core/loop.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { guardrailLog } from '../store/paths.ts';
import { openStreamLog } from '../store/stream-log.ts';
import type { Clock } from '../system/clock.ts';
import { type Environment, type ProcessEnd, shellCommand, startProcess } from '../system/process.ts';

export type Guardrail = {
  readonly command: string;
  readonly failAction: FailAction;
  readonly hint?: string | undefined;
  readonly timeout?: number | null | undefined;
};

export type GuardrailResult = {
  readonly command: string;
  readonly ok: boolean;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly ms: number;
  readonly log: string;
  readonly action: FailAction;
  readonly check: Check;
};

export type GuardrailContext = {
  readonly cwd: string;
  readonly env: Environment;
  readonly run: string;
  readonly iteration: number;
  readonly timeoutMs: number | null;
  readonly maxChars: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly redact: () => { push(chunk: Buffer): Buffer; end(): Buffer };
};

const maxLogBytes = 64 * 1024 * 1024;
/** What `timeout` of coreutils exits with. */
const timeoutExitCode = 124;

/** Runs the guardrails in order; all of them, so that the agent hears of every failure at once. */
export async function* runGuardrails(
  guardrails: readonly Guardrail[],
  context: GuardrailContext,
): AsyncGenerator<{ started: string } | GuardrailResult> {
  const slugs = new Map<string, number>();
  for (const guardrail of guardrails) {
    if (context.stop.aborted) return;
    const slug = slugOf(guardrail.command);
    const nth = (slugs.get(slug) ?? 0) + 1;
    slugs.set(slug, nth);
    yield { started: guardrail.command };
    yield await runGuardrail(guardrail, guardrailLog(context.iteration, slug, nth), context);
  }
}

async function runGuardrail(
  guardrail: Guardrail,
  log: string,
  context: GuardrailContext,
): Promise<GuardrailResult> {
  const started = context.clock.monotonic();
  const hardMs = guardrail.timeout === undefined ? context.timeoutMs : guardrail.timeout;
  const { end, head } = await capture(guardrail.command, log, hardMs, context);
  const ms = context.clock.monotonic() - started;
  const timedOut = end.cause === 'hard-timeout';
  const exitCode = timedOut ? timeoutExitCode : exitCodeOf(end);
  const ok = exitCode === 0;
  const check = {
    check: `guardrail: ${guardrail.command}`,
    ok,
    detail: timedOut ? 'timed out' : `exit code ${exitCode}`,
  };
  const result = {
    command: guardrail.command,
    ok,
    exitCode,
    timedOut,
    ms,
    log,
    action: guardrail.failAction,
  };
  if (ok) return { ...result, check };
  const text = guardrailMessage(
    {
      command: guardrail.command,
      exitCode: exitCode ?? 'unknown',
      ...(guardrail.hint === undefined ? {} : { hint: guardrail.hint }),
      logFile: log,
      output: defuseTags(cleanTerminal(head)),
    },
    context.maxChars,
  );
  return { ...result, check: { ...check, feedback: { action: guardrail.failAction, text } } };
}

/** Everything goes to the log, the beginning is kept for the agent. */
async function capture(command: string, log: string, hardMs: number | null, context: GuardrailContext) {
  const file = openStreamLog(`${context.cwd}/${log}`, maxLogBytes);
  const redact = context.redact();
  const decoder = new StringDecoder('utf8');
  let head = '';
  const keep = (bytes: Buffer): void => {
    file.write(bytes);
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
    hardMs,
    clock: context.clock,
    onStdout: (chunk) => keep(redact.push(chunk)),
    onStderr: (chunk) => keep(redact.push(chunk)),
  });
  const stop = () => process.stop();
  context.stop.addEventListener('abort', stop, { once: true });
  try {
    const end = await process.done;
    keep(redact.end());
    if (end.cause === 'hard-timeout')
      keep(Buffer.from(`\n[ralph] ended after ${Math.round((hardMs ?? 0) / 1000)} s\n`));
    if (end.error) throw end.error;
    return { end, head };
  } finally {
    context.stop.removeEventListener('abort', stop);
    file.close();
  }
}

function exitCodeOf(end: ProcessEnd): number | null {
  return end.exitCode ?? (end.signal === null ? null : 128);
}
