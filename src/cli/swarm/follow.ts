import { exitCodeOf } from '../../fleet/end-loop.ts';
import { readTimeline, timelineOf } from '../../fleet/files/events.ts';
import { readLoop } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { reviveSupervisor } from '../../fleet/supervisor-start.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { createLineSplitter } from '../../os/process/lines.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';
import { warn } from './context.ts';

const lookMs = 300;

/** Shows what happens to a loop until it ends or waits for an answer, and returns its exit code. */
export async function followLoop(context: Context, name: string): Promise<number> {
  const { env, stdout, stderr } = context;
  const over = new AbortController();
  const lines = createLineSplitter((line) => {
    const [event] = timelineOf([line.toString('utf8')]).events;
    if (event === undefined || event.type === 'screen') return;
    stdout.stream.write(`[ralph] ${name}: ${cleanTerminal(event.text)}\n`);
  });
  const path = loopPaths(env, name).events;
  const onData = (bytes: Buffer) => lines.push(bytes);
  const tail = tailFile(path, { follow: true, onData, signal: over.signal });
  for (;;) {
    const loop = readLoop(env, name);
    const exitCode = loop === null ? 1 : exitCodeOf(loop);
    if (exitCode !== null) {
      // The last events are shown before leaving.
      await systemClock.sleep(lookMs);
      over.abort();
      await tail;
      const skipped = skippedText({ ...readTimeline(path), source: 'timeline' });
      if (skipped !== null) warn(context, skipped);
      if (loop?.status === 'failed' && loop.why.detail !== undefined) {
        stderr.write(`swarm: error: ${cleanTerminal(loop.why.detail)}\n`);
      }
      if (loop === null) stderr.write(`swarm: error: the loop of '${name}' is gone\n`);
      return exitCode;
    }
    await reviveSupervisor(env, programCommand('swarm'));
    await systemClock.sleep(lookMs);
  }
}
