import { isTerminal, writeStdio } from '../../os/process/stdio.ts';
import { main } from './main.ts';
import type { Context, Output, Program } from './spec.ts';

/** Runs a program and sets the exit code of this process. It does not exit, so that pending output is not cut. */
export async function start(program: Program, words: readonly string[]): Promise<void> {
  process.exitCode = await main(program, words, ownContext());
}

/** Opens the streams on first use: each takes milliseconds, and few commands need them. */
function ownContext(): Context {
  return {
    get cwd() {
      return process.cwd();
    },
    env: process.env,
    get stdin() {
      return process.stdin;
    },
    stdout: createOutput(1, () => process.stdout),
    stderr: createOutput(2, () => process.stderr),
  };
}

function createOutput(fd: 1 | 2, open: () => NodeJS.WriteStream): Output {
  let stream: NodeJS.WriteStream | null = null;
  const output: Output = {
    write(text) {
      // Only the stream knows how to write more than ASCII to a terminal of Windows.
      if (stream !== null || (process.platform === 'win32' && output.isTTY)) output.stream.write(text);
      else if (!writeStdio(fd, text)) setImmediate(() => process.exit());
    },
    get isTTY() {
      return isTerminal(fd);
    },
    get stream() {
      stream ??= open().on('error', endQuietly);
      return stream;
    },
  };
  return output;
}

/** Exits without a message if the reader of our output is gone (`ralph show | head`). */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}
