import type { Cluster } from '../../cluster/cluster.ts';
import { exitCodeOf } from '../../fleet/end-loop.ts';
import { type LoopRecord, readLoop } from '../../fleet/files/loops.ts';
import { runningNow } from '../../fleet/live.ts';
import { whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { waitOptions } from './options.ts';

const lookMs = 500;

/** A worker that somebody waits for. `exitCode` is 1 as long as a loop goes on. */
type WaitEntry = {
  readonly name: string;
  readonly isOver: boolean;
  /** How it ended, in words. */
  readonly text: string;
  readonly exitCode: number;
};

export async function main(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  if (wantsCluster(context, values)) {
    return withCluster(context, values, async (cluster) => {
      const only = values.all ? null : (await needClusterLoop(cluster, args[0])).name;
      // A store that was lost looks like this, too.
      if (only === null && (await cluster.list()).length === 0)
        throw fault('there is no loop in the cluster', 'swarm reconcile, if its store was lost');
      return waitUntilOver(context, () => clusterEntries(cluster, only), values);
    });
  }
  const only = values.all ? null : (await needWorker(context, args[0])).name;
  return waitUntilOver(context, () => localEntries(context, only), values);
}

/** Also starts a supervisor if it has died: the loops would never end without one. */
async function localEntries(context: Context, only: string | null): Promise<readonly WaitEntry[]> {
  const { env } = context;
  const workers = (await allWorkers(context)).filter(({ name }) => only === null || name === only);
  const running = await runningNow(env, workers);
  return workers.map(({ name, metadata }, index): WaitEntry => {
    const isOver = running[index] !== true;
    if (metadata.ralph !== true) return { name, isOver, text: 'exited', exitCode: 0 };
    const loop = readLoop(env, name);
    if (loop === null) return { name, isOver, text: 'exited, its loop is gone', exitCode: 1 };
    const entry = loopEntry(loop);
    // The list of workers is written a moment after the end of a loop.
    return loop.status === 'paused' ? entry : { ...entry, isOver: entry.isOver && isOver };
  });
}

/** Waits until all are over. Returns the exit code of the first that is not done, 0 if all are, 1 after the time-out. */
export async function waitUntilOver(
  context: Context,
  ask: () => Promise<readonly WaitEntry[]>,
  { all = false, timeout = Number.POSITIVE_INFINITY }: { readonly all?: boolean; readonly timeout?: number },
): Promise<number> {
  const deadline = systemClock.monotonic() + timeout;
  const say = ({ name, text }: Pick<WaitEntry, 'name' | 'text'>) =>
    context.stdout.write(cleanTerminal(`${name}: ${text}\n`));
  let entries = await ask();
  // With --all, workers that were done before are no news.
  for (const one of entries) if (one.isOver && !(all && one.exitCode === 0)) say(one);
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

/** A loop that somebody waits for. One that waits for an answer is over for them, too. */
function loopEntry(loop: LoopRecord): WaitEntry {
  const exitCode = exitCodeOf(loop);
  const why = whyText(loop.why, systemClock.now());
  const text = loop.status === 'paused' ? why : `exited, ${why}`;
  return { name: loop.name, isOver: exitCode !== null, text, exitCode: exitCode ?? 1 };
}

/** The loops of a cluster, or only the one of that name. */
export async function clusterEntries(cluster: Cluster, only: string | null): Promise<readonly WaitEntry[]> {
  const views = await cluster.list();
  return views.filter(({ name }) => only === null || name === only).map(loopEntry);
}
