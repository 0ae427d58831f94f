import { exitCodeOf } from '../../os/process/exit-code.ts';
import { runCommand, shellCommand } from '../../os/process/process.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { runVerify, type VerifyResult } from '../run-verify.ts';
import type { SessionContext } from './hook-reply.ts';
import type { SessionLoop } from './session-loops.ts';
import { userEnvironment } from './user-environment.ts';

/** Stays, with the time of the hook itself, below the half hour that the host gives the hook. */
const timeoutMs = 25 * 60_000;
const maxChars = 5000;

/** Runs the verify commands of a loop in a session. Their output is not stored; the agent gets its end. */
export async function verifySession(
  { verify, cwd, run, loop }: SessionLoop,
  { env, now }: SessionContext,
): Promise<VerifyResult[]> {
  const deadline = now() + timeoutMs;
  const results: VerifyResult[] = [];
  const running = runVerify(verify, {
    iteration: loop.iteration,
    nonce: () => run.slice(-6),
    async run(command) {
      const startedAt = now();
      const end = await runCommand(shellCommand(command), {
        cwd,
        env: userEnvironment(env),
        timeoutMs: Math.max(1, deadline - startedAt),
      });
      const { timedOut, stdout, stderr, error } = end;
      const output = cleanTerminal(`${stdout}${stderr}${error?.message ?? ''}`).slice(-maxChars);
      return { exitCode: exitCodeOf(end), timedOut, ms: now() - startedAt, output };
    },
  });
  for await (const result of running) results.push(result);
  return results;
}
