import { createStyle, type Style } from '../../show/terminal/style.ts';
import type { Context } from './spec.ts';

/** Writes a value as indented JSON. */
export function writeJson({ stdout }: Pick<Context, 'stdout'>, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** The style of standard output. */
export function styleOf({ env, stdout }: Pick<Context, 'env' | 'stdout'>): Style {
  // Only a terminal is worth the time that opening the stream takes.
  const columns = stdout.isTTY ? stdout.stream.columns : undefined;
  return createStyle({ env, isTTY: stdout.isTTY, columns });
}

/** True if a full screen can be shown, and keys can be read. */
export function isInteractive({ stdin, stdout, env }: Context): boolean {
  return stdin.isTTY === true && stdout.isTTY && env.TERM !== 'dumb';
}

/** Writes to the terminal of whoever started the program; null if neither output is one. */
export function terminalOf({ stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>) {
  const output = [stderr, stdout].find(({ isTTY }) => isTTY);
  return output === undefined ? null : (sequence: string) => output.write(sequence);
}
