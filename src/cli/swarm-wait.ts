import { runningNow } from '../fleet/live.ts';
import { readWorkers } from '../store/fleet-workers.ts';
import { systemClock } from '../system/clock.ts';
import type { Context, Input } from './spec.ts';
import { allWorkers, fault, needWorker } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import type { waitOptions } from './swarm-options.ts';

const lookMs = 500;

export async function main(context: Context, input: Input<typeof waitOptions>): Promise<number> {
  if (wantsEngine(context, input.values)) return (await import('./swarm-cluster.ts')).wait(context, input);
  const { values, args } = input;
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  const wanted = values.all ? null : (await needWorker(context, args[0])).name;
  const workers = await allWorkers(context);
  const runs = await runningNow(context.env, workers);
  let pending = new Set(
    workers.flatMap(({ name }, index) => ((wanted === null ? runs[index] : name === wanted) ? [name] : [])),
  );
  const deadline = systemClock.monotonic() + (values.timeout ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const running = await namesRunning(context);
    for (const name of pending) if (!running.has(name)) context.stdout.write(`${name}: exited\n`);
    pending = new Set([...pending].filter((name) => running.has(name)));
    if (pending.size === 0) return 0;
    if (systemClock.monotonic() >= deadline) break;
    await systemClock.sleep(Math.min(lookMs, Math.max(1, deadline - systemClock.monotonic())));
  }
  for (const name of pending) context.stdout.write(`${name}: still running (timeout)\n`);
  return 1;
}

async function namesRunning({ env }: Context): Promise<Set<string>> {
  const { workers } = readWorkers(env);
  const running = await runningNow(env, workers);
  return new Set(workers.flatMap(({ name }, index) => (running[index] ? [name] : [])));
}
