import { main } from './main.ts';

/** Runs a program in this process and leaves its exit code behind; output that is still being written is not cut. */
export async function start(name: 'ralph' | 'swarm', words: readonly string[]): Promise<void> {
  const program =
    name === 'ralph' ? (await import('./commands.ts')).ralph : (await import('./swarm-commands.ts')).swarm;
  process.stdout.on('error', endQuietly);
  process.stderr.on('error', endQuietly);
  const { env, stdin, stdout, stderr } = process;
  process.exitCode = await main(program, words, { cwd: process.cwd(), env, stdin, stdout, stderr });
}

/** The reader of our output is gone (`ralph show | head`): nobody is left to tell. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}
