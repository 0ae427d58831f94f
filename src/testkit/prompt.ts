import { readSync } from 'node:fs';
import { isatty } from 'node:tty';
import { retryWhenBusy } from './output.ts';

/** First words that name a command of the CLI, such as `codex exec`. */
const commands = ['exec', 'e', 'run', 'threads'];
/** Flags without a value, in any of the CLIs; every other flag takes the next word. */
const switches =
  /^(?:-[pxy]?|--(?:print|execute|verbose|(?:stream-)?json|auto|plan|silent|yolo|full-auto|allow-all|(?:dangerously|allow-all|skip|no)-.+|.+=.*))$/;

/** Returns the prompt from the arguments and standard input, the arguments first when there are both. */
export function readPrompt(args: readonly string[]): string {
  return [...positionals(args), readStdin()].filter((part) => part !== '').join('\n');
}

/** Returns the arguments that are neither a command, a flag, nor the value of one. */
export function positionals(args: readonly string[]): string[] {
  const hasCommand = commands.includes(args[0] ?? '');
  const words: string[] = [];
  for (let index = hasCommand ? 1 : 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return [...words, ...args.slice(index + 1)];
    const namesSession = hasCommand && /^(?:resume|continue)$/.test(arg);
    if (namesSession || (arg.startsWith('-') && !switches.test(arg))) index += 1;
    else if (!arg.startsWith('-')) words.push(arg);
  }
  return words;
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

/** Reads a chunk. A closed standard input counts as empty; Windows reports its end as an error. */
export function readChunk(chunk: Buffer): number {
  try {
    return readSync(0, chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EOF' || error.code === 'EBADF'))
      return 0;
    throw error;
  }
}
