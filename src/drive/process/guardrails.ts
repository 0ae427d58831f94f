import { join } from 'node:path';
import { guardrailLog } from '../../config/paths.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import type { Check } from '../../core/evidence.ts';
import { defuseTags, guardrailMessage, slugOf } from '../../core/feedback.ts';
import { type CheckContext, runCheck } from './check-command.ts';

type Guardrail = ResolvedSettings['guardrails'][number];

/** Runs the guardrails in order; all of them, so that the agent hears of every failure at once. */
export async function* runGuardrails(context: CheckContext) {
  const { settings, stop } = context.spec;
  const slugs = new Map<string, number>();
  for (const guardrail of settings.guardrails) {
    if (stop.aborted) return;
    const slug = slugOf(guardrail.command);
    const nth = (slugs.get(slug) ?? 0) + 1;
    slugs.set(slug, nth);
    yield { started: guardrail.command };
    yield await runGuardrail(guardrail, guardrailLog(context.iteration, slug, nth), context);
  }
}

export function checkName(command: string): string {
  return `guardrail: ${command}`;
}

async function runGuardrail(
  { command, failAction: action, hint, timeout }: Guardrail,
  log: string,
  context: CheckContext,
) {
  const file = join(context.spec.cwd, log);
  const { output, truncated, ...result } = await runCheck(command, file, context, timeout);
  const detail = result.timedOut ? 'timed out' : `exit code ${result.exitCode}`;
  const check: Check = { check: checkName(command), ok: result.ok, detail };
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
