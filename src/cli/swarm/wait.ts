import { readLoop } from '../../fleet/files/loops.ts';
import { runningNow } from '../../fleet/live.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import { wantsCluster } from './open-cluster.ts';
import type { waitOptions } from './options.ts';
import { type Waited, waitedLoop, waitUntilOver } from './waited.ts';

export async function main(context: Context, input: Input<typeof waitOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster.ts')).wait(context, input);
  const { values, args } = input;
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  const wanted = values.all ? null : (await needWorker(context, args[0])).name;
  return waitUntilOver(context, () => look(context, wanted), values);
}

/** Also starts a supervisor where that has died: nothing would end otherwise. */
async function look(context: Context, wanted: string | null): Promise<readonly Waited[]> {
  const { env } = context;
  const workers = (await allWorkers(context)).filter(({ name }) => wanted === null || name === wanted);
  const running = await runningNow(env, workers);
  return workers.map(({ name, metadata }, index): Waited => {
    const isOver = running[index] !== true;
    if (metadata.ralph !== true) return { name, isOver, text: 'exited', exitCode: 0 };
    const loop = readLoop(env, name);
    if (loop === null) return { name, isOver, text: 'exited, its loop is gone', exitCode: 1 };
    const waited = waitedLoop(loop);
    // The list of workers is written a moment after the end of a loop.
    return loop.status === 'paused' ? waited : { ...waited, isOver: waited.isOver && isOver };
  });
}
