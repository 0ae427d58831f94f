import { join } from 'node:path';
import { guardrailLog } from '../../config/paths.ts';
import type { Check } from '../../core/evidence.ts';
import { defuseTags, guardrailMessage, slugOf } from '../../core/feedback.ts';
import type { FailAction } from '../../core/loop.ts';
import { type CheckContext, type CheckResult, runCheck } from './check-command.ts';

export type Guardrail = {
  readonly command: string;
  readonly failAction: FailAction;
  readonly hint?: string | undefined;
  readonly timeout?: number | null | undefined;
};

export type GuardrailResult = Omit<CheckResult, 'output' | 'truncated'> & {
  readonly command: string;
  readonly log: string;
  readonly action: FailAction;
  readonly check: Check;
};

/** Runs the guardrails in order; all of them, so that the agent hears of every failure at once. */
export async function* runGuardrails(
  guardrails: readonly Guardrail[],
  context: CheckContext,
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

/** Name of the check that a guardrail is. */
export function checkName(command: string): string {
  return `guardrail: ${command}`;
}

async function runGuardrail(
  guardrail: Guardrail,
  log: string,
  context: CheckContext,
): Promise<GuardrailResult> {
  const { command, failAction: action, hint } = guardrail;
  const timeoutMs = guardrail.timeout === undefined ? context.timeoutMs : guardrail.timeout;
  const { output, truncated, ...result } = await runCheck(
    command,
    join(context.cwd, log),
    context,
    timeoutMs,
  );
  const detail = result.timedOut ? 'timed out' : `exit code ${result.exitCode}`;
  const check = { check: checkName(command), ok: result.ok, detail };
  if (result.ok) return { ...result, command, log, action, check };
  const failure = {
    command,
    exitCode: result.exitCode ?? 'unknown',
    ...(hint === undefined ? {} : { hint }),
    logFile: log,
    output: defuseTags(output),
    truncated,
  };
  const text = guardrailMessage(failure);
  return { ...result, command, log, action, check: { ...check, feedback: { action, text } } };
}
