import { loadSettings } from '../../config/settings.ts';
import { examineTrust } from '../../config/trust/trust.ts';
import type { Check } from '../../core/evidence.ts';
import type { EventBody } from '../../journal/events.ts';
import { readRunAt } from '../../journal/runs.ts';
import { exitCodeOf } from '../../os/process/exit-code.ts';
import { runCommand, shellCommand } from '../../os/process/process.ts';
import type { Environment } from '../../os/process/program.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { runVerify } from '../run-verify.ts';
import { watchCheckFiles } from './check-files.ts';
import type { SessionContext } from './hook-reply.ts';
import type { SessionLoop } from './session-loops.ts';
import { recordPaths } from './session-paths.ts';
import { userEnvironment } from './user-environment.ts';

export type ClaimChecks = { readonly checks: readonly Check[]; readonly events: readonly EventBody[] };

/** Stays, with the time of the hook itself, below the half hour that the host gives the hook. */
const timeoutMs = 25 * 60_000;
const maxChars = 5000;

/**
 * Compares the files that define the verify commands with the start of the loop, and runs the commands. Their output is
 * not stored; the agent gets its end.
 */
export async function verifyClaim(state: SessionLoop, context: SessionContext): Promise<ClaimChecks> {
  const { verify, cwd, run, loop } = state;
  const { env, now } = context;
  const { iterations } = readRunAt(run, recordPaths(env, run).journal).view;
  const watch = { resumed: true, protectChecks: await protectsChecks(cwd, userEnvironment(env)) };
  const checks: Check[] = await watchCheckFiles(state, context, watch).check(iterations);
  const events: EventBody[] = [];
  const deadline = now() + timeoutMs;
  const results = runVerify(verify, {
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
  for await (const { check, event } of results) {
    checks.push(check);
    events.push(event);
  }
  return { checks, events };
}

/** Reads the setting. One that cannot be read may have been damaged by the agent, and is on. */
async function protectsChecks(cwd: string, env: Environment): Promise<boolean> {
  try {
    return loadSettings({ cwd, env, trust: await examineTrust(cwd, env) }).settings.protectChecks;
  } catch {
    return true;
  }
}
