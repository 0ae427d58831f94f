import { relative } from 'node:path';
import { slugOf, truncate } from '../core/feedback.ts';
import { runVerify, type VerifyResult } from '../safety/verify.ts';
import { runPaths } from '../store/paths.ts';
import { type CheckContext, runCheck } from './check-command.ts';

/** Runs the verify commands of a run; each has its log beside the stream of the iteration. */
export function verifyRun(
  commands: readonly string[],
  context: CheckContext,
  nonce: () => string,
): AsyncGenerator<VerifyResult> {
  const { cwd, run, iteration, maxChars } = context;
  return runVerify(commands, {
    iteration,
    nonce,
    async run(command, index) {
      const file = runPaths(cwd, run).verifyLog(iteration, `${index + 1}_${slugOf(command)}`);
      const { exitCode, timedOut, ms, output } = await runCheck(command, file, context);
      return { exitCode, timedOut, ms, output: truncate(output, maxChars), log: relative(cwd, file) };
    },
  });
}
