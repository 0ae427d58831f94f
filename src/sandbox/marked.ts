import { RalphError } from '../core/error.ts';
import { randomHex } from '../os/crypto.ts';
import type { Argv } from '../os/process/process.ts';
import type { Wrapped } from './sandbox.ts';

/** Prints on standard error that the command ran and how it ended: exit code 1 may also be the sandbox's own. */
const script = '"$@"; code=$?; printf "%s %s\\n" "$0" "$code" >&2; exit "$code"';

/** Wraps a command so that a failure of the sandbox can be told from one of the command. */
export function markedCommand(
  argv: readonly string[],
  remedy: string,
): { readonly argv: Argv; readonly check: Pick<Wrapped, 'marker' | 'failure'> } {
  const marker = `ralph-end-${randomHex(6)}`;
  return {
    argv: ['sh', '-c', script, marker, ...argv],
    check: {
      marker,
      failure(exitCode, stderr) {
        if (exitCode === 0 || stderr.includes(marker)) return null;
        const lastLine = stderr.trim().split('\n').at(-1) || `exit code ${exitCode}`;
        return new RalphError('sandbox-failed', `the sandbox did not run the command: ${lastLine}`, {
          remedy,
        });
      },
    },
  };
}
