import { dirname, join } from 'node:path';
import type { SelfCommand } from '../../fleet/supervisor-start.ts';
import { realPath } from '../../os/files/real-path.ts';

/** The command that starts a program of this package; both stand beside each other. */
export function programCommand(name: 'ralph' | 'swarm'): SelfCommand {
  return [process.execPath, join(dirname(realPath(process.argv[1] ?? '')), `${name}.cjs`)];
}
