import { join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { systemClock } from '../../os/clock.ts';
import { openInBrowser } from '../../os/notify/browser.ts';
import { type Actions, createActions, workerScreen } from '../../show/web/control.ts';
import { readPage } from '../../show/web/page.ts';
import type { DashboardOptions } from '../../show/web/routes.ts';
import { startDashboard } from '../../show/web/server.ts';
import { requirePerson } from '../kernel/people.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { wantsCluster, withCluster } from '../swarm/open-cluster.ts';
import type { swarmDashboardOptions } from '../swarm/options.ts';
import type { dashboardOptions } from './options.ts';

type DashboardInput = Input<typeof dashboardOptions>;

export function main(context: Context, input: DashboardInput): Promise<void> {
  return serve('ralph', context, input);
}

/** `swarm dashboard`: the same page with the fleet of this machine, or that of a cluster. */
export async function mainSwarm(context: Context, input: Input<typeof swarmDashboardOptions>) {
  if (!wantsCluster(context, input.values)) return serve('swarm', context, input);
  const { clusterActions, clusterSources } = await import('../../show/web/cluster-sources.ts');
  return withCluster(context, input.values, (cluster) =>
    serve('swarm', context, input, {
      fleet: clusterSources(cluster),
      actions: clusterActions(cluster),
      screen: (name) => cluster.tail(name),
    }),
  );
}

async function serve(
  program: 'ralph' | 'swarm',
  context: Context,
  { values }: DashboardInput,
  cluster?: Required<Pick<DashboardOptions, 'fleet' | 'screen'>> & { readonly actions: Actions },
): Promise<void> {
  const { cwd, env, stdout, stderr } = context;
  if (values.control) requirePerson(env);
  const port = values.port ?? 0;
  if (!Number.isInteger(port) || port > 65_535)
    throw new RalphError('usage', `there is no port ${port}`, { remedy: `${program} dashboard` });
  const now = () => systemClock.now();
  const control = { env, now, version: __VERSION__, swarm: programCommand('swarm') };
  const dashboard = await startDashboard({
    env,
    cwd,
    page: readPage(pageFolder),
    version: __VERSION__,
    now,
    program,
    port,
    actions: values.control ? (cluster?.actions ?? createActions(control)) : null,
    screen: cluster?.screen ?? ((worker) => workerScreen(env, worker)),
    ...(cluster === undefined ? {} : { fleet: cluster.fleet }),
  });
  stdout.write(`${dashboard.url}\n`);
  stderr.write(
    values.control
      ? 'Anyone with this URL can pause, resume, stop and message your loops; Ctrl-C ends it\n'
      : 'it only shows (--control allows changes); Ctrl-C ends it\n',
  );
  if (values.open !== false && stdout.isTTY) await openInBrowser(dashboard.url, context.cwd, env);
  await new Promise<void>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end());
  });
  await dashboard.close();
}

/** The built page, beside the built commands. */
export const pageFolder = join(import.meta.dirname, '../web');
