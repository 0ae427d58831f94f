import { readSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { AgentFormat } from './formats/format.ts';
import { retryWhenBusy } from './output.ts';

/** The prompt from the arguments and standard input, the arguments first when there are both. */
export function readPrompt(args: readonly string[], format: AgentFormat): string {
  const words = positionals(args, format);
  return [...words, readStdin()].filter((part) => part !== '').join('\n');
}

/** The arguments that are neither a command, a flag, nor the value of one. */
export function positionals(
  args: readonly string[],
  { commands, valueFlags }: Pick<AgentFormat, 'commands' | 'valueFlags'>,
): string[] {
  const found: string[] = [];
  for (let index = commands.includes(args[0] ?? '') ? 1 : 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return [...found, ...args.slice(index + 1)];
    if (valueFlags.includes(arg)) index += 1;
    else if (!arg.startsWith('-')) found.push(arg);
  }
  return found;
}

function readStdin(): string {
  if (isatty(0)) return '';
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const size = retryWhenBusy(() => readChunk(chunk));
    if (size === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(chunk.subarray(0, size));
  }
}

/** A closed standard input is an empty one; Windows reports its end as an error. */
function readChunk(chunk: Buffer): number {
  try {
    return readSync(0, chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EOF' || error.code === 'EBADF'))
      return 0;
    throw error;
  }
}
