import { exitCodeOf } from '../../fleet/end-loop.ts';
import { readTimeline, timelineOf } from '../../fleet/files/events.ts';
import { readLoop } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { reviveSupervisor } from '../../fleet/supervisor-start.ts';
import { whyText } from '../../fleet/why.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { createLineSplitter } from '../../os/process/lines.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import type { Fleet, Member } from './fleet.ts';
import { withFleet } from './local-fleet.ts';
import type { waitOptions } from './options.ts';

const lookMs = 500;

export function main(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  return withFleet(context, values, async (fleet) => {
    const only = values.all ? undefined : (await fleet.need(args[0])).name;
    // A store that was lost looks like this, too.
    if (values.all && fleet.isCluster && (await fleet.all()).length === 0)
      throw fault('there is no loop in the cluster', 'swarm reconcile, if its store was lost');
    return waitUntilOver(context, fleet, only, values.timeout);
  });
}

/** Waits until all are over, or the one of that name. Returns the first exit code but 0, and 1 after the time-out. */
export async function waitUntilOver(
  context: Context,
  fleet: Fleet,
  only?: string,
  timeout = Number.POSITIVE_INFINITY,
): Promise<number> {
  // Also starts a supervisor if it has died: the loops would never end without one.
  const ask = async () => (await fleet.all(only)).map(entryOf);
  const deadline = systemClock.monotonic() + timeout;
  const say = ({ name, text }: { readonly name: string; readonly text: string }) =>
    context.stdout.write(cleanTerminal(`${name}: ${text}\n`));
  let entries = await ask();
  // Of all workers, those that were done before are no news.
  for (const one of entries) if (one.isOver && (only !== undefined || one.exitCode !== 0)) say(one);
  for (;;) {
    const open = entries.filter(({ isOver }) => !isOver);
    if (open.length === 0) return entries.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0;
    if (systemClock.monotonic() >= deadline) {
      for (const { name } of open) say({ name, text: 'still running (timeout)' });
      return 1;
    }
    await systemClock.sleep(Math.min(lookMs, Math.max(1, deadline - systemClock.monotonic())));
    const now = new Map((await ask()).map((one) => [one.name, one]));
    entries = entries.map((one) => {
      const next = one.isOver
        ? one
        : (now.get(one.name) ?? { ...one, isOver: true, text: 'gone', exitCode: 1 });
      if (next.isOver && !one.isOver) say(next);
      return next;
    });
  }
}

/** Says whether a worker is over, how it ended, and its exit code, which is 1 as long as a loop goes on. */
function entryOf({ name, running, isLoop, loop }: Member) {
  if (!isLoop) return { name, isOver: !running, text: 'exited', exitCode: 0 };
  if (loop === null) return { name, isOver: !running, text: 'exited, its loop is gone', exitCode: 1 };
  const exitCode = exitCodeOf(loop);
  const why = whyText(loop.why, systemClock.now());
  // A loop that waits for an answer is over for whoever waits.
  if (loop.status === 'paused')
    return { name, isOver: exitCode !== null, text: why, exitCode: exitCode ?? 1 };
  // The list of workers is written a moment after the end of a loop.
  return { name, isOver: exitCode !== null && !running, text: `exited, ${why}`, exitCode: exitCode ?? 1 };
}

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
