import { exitCodeOf } from '../../os/process/exit-code.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { carryInside } from '../../sandbox/carry.ts';

void main(process.argv.slice(2));

/** The first program in a sandbox: SOCKET PORT FORWARDS COMMAND... Connects to the proxy and runs the command. */
async function main(words: readonly string[]): Promise<void> {
  const [socket = '', port = '', forwards = '', program = '', ...rest] = words;
  await carryInside({
    socket,
    port: Number(port),
    forwards: forwards.split(',').filter(Boolean),
    // The program outside is gone, so that nobody would end this one.
    onLost: () => process.exit(1),
  });
  const end = await runInForeground([program, ...rest], { cwd: process.cwd(), env: process.env });
  if (end.error) process.stderr.write(`${reasonOf(program, end.error)}\n`);
  process.exit(exitCodeOf(end) ?? 127);
}

function reasonOf(program: string, error: Error): string {
  if (!('code' in error) || error.code !== 'ENOENT') return error.message;
  return `there is no ${program} in the sandbox (sandboxPaths in the settings shows more of this machine)`;
}
