import { relative } from 'node:path';
import type { Check } from '../core/evidence.ts';
import { slugOf, truncate } from '../core/feedback.ts';
import { fence } from '../core/fence.ts';
import { runPaths } from '../store/paths.ts';
import { type CheckContext, type CheckResult, runCheck } from './check-command.ts';

export type VerifyResult = Omit<CheckResult, 'output'> & {
  readonly command: string;
  /** Relative to the working copy. */
  readonly log: string;
  readonly check: Check;
};

/** Runs the verify commands in order and stops at the first that fails: they may be slow, and one is enough to reject. */
export async function* runVerify(
  commands: readonly string[],
  context: CheckContext,
  nonce: () => string,
): AsyncGenerator<VerifyResult> {
  const paths = runPaths(context.cwd, context.run);
  for (const [index, command] of commands.entries()) {
    if (context.stop.aborted) return;
    const file = paths.verifyLog(context.iteration, `${index + 1}_${slugOf(command)}`);
    const log = relative(context.cwd, file);
    const { output, ...result } = await runCheck(command, file, context);
    const detail = result.timedOut ? 'timed out' : `exit code ${result.exitCode}`;
    const check: Check = { check: `verify: ${command}`, ok: result.ok, detail };
    if (result.ok) {
      yield { ...result, command, log, check };
      continue;
    }
    const told = fence('Its output', truncate(output, context.maxChars), nonce());
    const text = `Your claim was checked with "${command}", which failed (${detail}). Mend this, then claim again.\n${told}`;
    yield { ...result, command, log, check: { ...check, feedback: { action: 'APPEND', text } } };
    return;
  }
}
