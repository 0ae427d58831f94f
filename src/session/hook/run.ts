import { messageOf } from '../../core/error.ts';
import { readStdin, writeStdio } from '../../system/stdio.ts';
import type { SessionContext } from '../context.ts';
import type { HookHost } from './host.ts';

type Hook = (
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
) => string | Promise<string>;

/**
 * Runs a hook as a program: input from stdin, one JSON document or nothing to stdout, exit code 0 whatever happens.
 * Answers whether it had anything to say.
 */
export async function runHook(host: HookHost, hook: Hook, driver: string): Promise<boolean> {
  const context: SessionContext = { env: process.env, now: Date.now, driver, version: __VERSION__ };
  const warn = (line: string) => writeStdio(2, `${line}\n`);
  try {
    const output = await hook(host, readStdin(), context, warn);
    writeStdio(1, output);
    return output !== '';
  } catch (error) {
    warn(`ralph: ${messageOf(error)}`);
    return false;
  }
}
