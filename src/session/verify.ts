import type { Check } from '../core/evidence.ts';
import { fence } from '../core/fence.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import type { EventBody } from '../store/events.ts';
import { type Environment, runCommand, shellCommand } from '../system/process.ts';
import { withCertificates } from './certificates.ts';

export type VerifyContext = {
  readonly cwd: string;
  readonly env: Environment;
  readonly iteration: number;
  readonly nonce: string;
  readonly now: () => number;
};

/** Together with the time of the hook itself, this stays below the half hour that the hooks ask of the host. */
const timeoutMs = 25 * 60_000;
const maxChars = 5000;

/** Runs the verify commands in order, up to the first that fails: one is enough to reject a claim. */
export async function runVerify(
  commands: readonly string[],
  { cwd, env, iteration, nonce, now }: VerifyContext,
): Promise<{ check: Check; event: EventBody }[]> {
  const results: { check: Check; event: EventBody }[] = [];
  const deadline = now() + timeoutMs;
  for (const command of commands) {
    const started = now();
    const end = await runCommand(shellCommand(command), {
      cwd,
      env: withCertificates(env),
      timeoutMs: Math.max(1, deadline - started),
    });
    const { exitCode, timedOut } = end;
    const ok = exitCode === 0 && !timedOut;
    const detail = timedOut ? 'timed out' : (end.error?.message ?? `exit code ${exitCode ?? end.signal}`);
    const output = cleanTerminal(`${end.stdout}${end.stderr}`).slice(-maxChars);
    const told = fence('The end of its output', output, nonce);
    const text = `Your claim was checked with "${command}", which failed (${detail}). Mend this, then claim again.\n${told}`;
    results.push({
      check: {
        check: `verify: ${command}`,
        ok,
        detail,
        ...(ok ? {} : { feedback: { action: 'APPEND', text } }),
      },
      event: { type: 'verify.ended', iteration, command, ok, exitCode, timedOut, ms: now() - started },
    });
    if (!ok) break;
  }
  return results;
}
