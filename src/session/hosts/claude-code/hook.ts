import { messageOf } from '../../../core/error.ts';
import { readStdin } from '../../../system/stdin.ts';
import type { SessionContext } from '../../context.ts';

type Hook = (
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
) => string | Promise<string>;

/** Runs a hook as a program: input from stdin, one JSON document or nothing to stdout, exit code 0 whatever happens. */
export async function runHook(hook: Hook, driver: string): Promise<void> {
  const context: SessionContext = { env: process.env, now: Date.now, driver, version: __VERSION__ };
  const warn = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    process.stdout.write(await hook(readStdin(), context, warn));
  } catch (error) {
    warn(`ralph: ${messageOf(error)}`);
  }
}
