import { parseAs } from '../core/parse-as.ts';
import { exitCodeOf } from '../fleet/end-loop.ts';
import { reviveSupervisor } from '../fleet/supervisor-start.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { fleetEvent } from '../store/fleet-events.ts';
import { readLoop } from '../store/fleet-loops.ts';
import { loopPaths } from '../store/fleet-paths.ts';
import { systemClock } from '../system/clock.ts';
import { createLineSplitter } from '../system/lines.ts';
import { tailFile } from '../system/tail-file.ts';
import type { Context } from './spec.ts';
import { selfCommand } from './swarm-context.ts';

const lookMs = 300;

/** Shows what happens to a loop until it ends or waits for an answer, and returns its exit code. */
export async function followLoop(context: Context, name: string): Promise<number> {
  const { env, stdout, stderr } = context;
  const over = new AbortController();
  const lines = createLineSplitter((line) => {
    const event = parseAs(fleetEvent, line.toString('utf8'));
    if (event === null || event.type === 'screen') return;
    stdout.stream.write(`[ralph] ${name}: ${cleanTerminal(event.text)}\n`);
  });
  const shown = tailFile(loopPaths(env, name).events, {
    follow: true,
    onData: (bytes) => lines.push(bytes),
    signal: over.signal,
  });
  for (;;) {
    const loop = readLoop(env, name);
    const exitCode = loop === null ? 1 : exitCodeOf(loop);
    if (exitCode !== null) {
      // What was told at the end is read before leaving.
      await systemClock.sleep(lookMs);
      over.abort();
      await shown;
      if (loop?.status === 'failed' && loop.why.detail !== undefined) {
        stderr.write(`swarm: error: ${cleanTerminal(loop.why.detail)}\n`);
      }
      if (loop === null) stderr.write(`swarm: error: the loop of '${name}' is gone\n`);
      return exitCode;
    }
    await reviveSupervisor(env, selfCommand());
    await systemClock.sleep(lookMs);
  }
}
