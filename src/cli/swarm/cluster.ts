import { showStamp, stamp } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import { isOpen, needLoop, withCluster } from './open-cluster.ts';
import type { cleanOptions, clusterOptions, killOptions, limitsOptions, waitOptions } from './options.ts';
import { waitedIn, waitUntilOver } from './waited.ts';

// What `swarm` does to a cluster: each command answers as its local twin does.

export function kill(context: Context, { values, args }: Input<typeof killOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or --all');
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? (await cluster.list()).filter(isOpen) : [await needLoop(cluster, args[0])];
    for (const { name } of views) {
      await cluster.cancel(name);
      context.stdout.write(`killed ${name}\n`);
    }
    return 0;
  });
}

export function wait(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  return withCluster(context, values, async (cluster) => {
    const only = values.all ? null : (await needLoop(cluster, args[0])).name;
    return waitUntilOver(context, () => waitedIn(cluster, only), values);
  });
}

export function clean(context: Context, { values, args }: Input<typeof cleanOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or use --all');
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? await cluster.list() : [await needLoop(cluster, args[0])];
    for (const view of views) {
      if (await cluster.forget(view.name)) context.stdout.write(`cleaned ${view.name}\n`);
      else if (values.all) warn(context, `skipping '${view.name}' (still running)`);
      else throw fault(`cannot clean running worker '${view.name}'`, `swarm kill ${view.name}`);
    }
    return 0;
  });
}

export function limits(context: Context, { values }: Input<typeof limitsOptions>): Promise<number> {
  const { release, unlimited = false } = values;
  const [max, starts, cost] = [values['max-parallel'], values['starts-per-minute'], values['max-cost']];
  return withCluster(context, values, async (cluster) => {
    await cluster.setLimits({
      ...(unlimited ? { maxParallel: null, startsPerMinute: null, maxCostUsd: null } : {}),
      ...(max === undefined ? {} : { maxParallel: max }),
      ...(starts === undefined ? {} : { startsPerMinute: starts }),
      ...(cost === undefined ? {} : { maxCostUsd: cost }),
    });
    if (release !== undefined && !(await cluster.releaseAccount(release))) {
      throw fault(`no loop waits for the account '${release}'`, 'swarm limits');
    }
    const { maxParallel, startsPerMinute, maxCostUsd, spentUsd, holds } = await cluster.limits();
    const held = Object.entries(holds).filter(([, until]) => until > systemClock.now());
    const lines = [
      `at the same time: ${maxParallel === null ? 'any number of iterations' : `at most ${maxParallel}`}`,
      ...(startsPerMinute === null ? [] : [`in a minute: at most ${startsPerMinute} begin`]),
      ...(maxCostUsd === null ? [] : [`cost: $${spentUsd.toFixed(2)} of $${maxCostUsd.toFixed(2)} spent`]),
      ...held.map(([account, until]) => `account ${account}: usage limit until ${showStamp(stamp(until))}`),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

export function pause(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name, status: before } = await needLoop(cluster, args[0]);
    const { changed } = await cluster.pause(name);
    if (changed) context.stdout.write(`paused ralph loop for ${name}\n`);
    else if (before === 'paused') warn(context, `worker '${name}' is already paused`);
    else warn(context, `worker '${name}' is not running (${before})`);
    return 0;
  });
}

export function resume(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name, status: before } = await needLoop(cluster, args[0]);
    const { changed } = await cluster.resume(name);
    if (changed) context.stdout.write(`resumed ralph loop for ${name}\n`);
    else warn(context, `worker '${name}' is not paused`);
    return !changed && !isOpen({ status: before }) ? 1 : 0;
  });
}

export function stop(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name } = await needLoop(cluster, args[0]);
    await cluster.cancel(name);
    context.stdout.write(`stopped ralph loop for ${name}\n`);
    return 0;
  });
}
