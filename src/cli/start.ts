import { main } from './main.ts';
import type { Context, Program } from './spec.ts';

/** Runs a program in this process and leaves its exit code behind; output that is still being written is not cut. */
export async function start(program: Program, words: readonly string[]): Promise<void> {
  process.exitCode = await main(program, words, ownContext());
}

/** The streams are made when they are asked for: each takes a millisecond or more, and few commands need them all. */
function ownContext(): Context {
  const seen = new Set<NodeJS.WriteStream>();
  const quietly = (stream: NodeJS.WriteStream): NodeJS.WriteStream => {
    if (!seen.has(stream)) stream.on('error', endQuietly);
    seen.add(stream);
    return stream;
  };
  return {
    cwd: process.cwd(),
    env: process.env,
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return quietly(process.stdout);
    },
    get stderr() {
      return quietly(process.stderr);
    },
  };
}

/** The reader of our output is gone (`ralph show | head`): nobody is left to tell. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}
