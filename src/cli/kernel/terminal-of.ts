import type { Context } from './spec.ts';

/** Writes to the terminal that somebody may be looking at; null where there is none. */
export function terminalOf({ stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>) {
  const stream = [stderr, stdout].find(({ isTTY }) => isTTY);
  return stream === undefined ? null : (sequence: string): void => void stream.write(sequence);
}
