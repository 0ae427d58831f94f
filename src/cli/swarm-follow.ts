import { reviveSupervisor } from '../fleet/supervisor-start.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readLoop } from '../store/fleet-loops.ts';
import { loopPaths } from '../store/fleet-paths.ts';
import { systemClock } from '../system/clock.ts';
import { createLineSplitter } from '../system/lines.ts';
import { tailFile } from '../system/tail-file.ts';
import type { Context } from './spec.ts';
import { selfCommand } from './swarm-context.ts';

const lookMs = 300;

/** Shows what happens to a loop until it ends, and gives its exit code: 0 complete, 1 failed. */
export async function followLoop(context: Context, name: string): Promise<number> {
  const { env, stdout, stderr } = context;
  const over = new AbortController();
  const lines = createLineSplitter((line) => {
    const { type, text } = JSON.parse(line.toString('utf8'));
    if (type !== 'screen') stdout.stream.write(`[ralph] ${name}: ${cleanTerminal(text)}\n`);
  });
  const shown = tailFile(loopPaths(env, name).events, {
    follow: true,
    onData: (bytes) => lines.push(bytes),
    signal: over.signal,
  });
  for (;;) {
    const loop = readLoop(env, name);
    if (loop === null || loop.status === 'stopped' || loop.status === 'failed') {
      // What was told at the end is read before leaving.
      await systemClock.sleep(lookMs);
      over.abort();
      await shown;
      if (loop?.status === 'failed' && loop.why.detail !== undefined) {
        stderr.write(`swarm: error: ${cleanTerminal(loop.why.detail)}\n`);
      }
      return loop?.status === 'failed' ? 1 : 0;
    }
    await reviveSupervisor(env, selfCommand());
    await systemClock.sleep(lookMs);
  }
}
