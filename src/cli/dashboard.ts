import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RalphError } from '../core/error.ts';
import { createActions, workerScreen } from '../dashboard/control.ts';
import { readPage } from '../dashboard/page.ts';
import { startDashboard } from '../dashboard/server.ts';
import { openInBrowser } from '../system/browser.ts';
import { systemClock } from '../system/clock.ts';
import { realPath } from '../system/real-path.ts';
import type { dashboardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

type DashboardInput = Input<typeof dashboardOptions>;

export function main(context: Context, input: DashboardInput): Promise<number> {
  return serve('ralph', context, input);
}

/** The same page, started as `swarm dashboard`. */
export function mainSwarm(context: Context, input: DashboardInput): Promise<number> {
  return serve('swarm', context, input);
}

async function serve(
  program: 'ralph' | 'swarm',
  context: Context,
  { values }: DashboardInput,
): Promise<number> {
  const { cwd, env, stdout, stderr } = context;
  const port = values.port ?? 0;
  if (!Number.isInteger(port) || port > 65_535)
    throw new RalphError('usage', `there is no port ${port}`, { remedy: `${program} dashboard` });
  const swarm = [process.execPath, join(dirname(realPath(process.argv[1] ?? '')), 'swarm.cjs')] as const;
  const control = { env, now: () => systemClock.now(), version: __VERSION__, swarm };
  const dashboard = await startDashboard({
    env,
    cwd,
    page: readPage(pageFolder),
    version: __VERSION__,
    now: () => systemClock.now(),
    program,
    port,
    actions: values.control ? createActions(control) : null,
    screen: (worker) => workerScreen(env, worker),
  });
  stdout.write(`${dashboard.url}\n`);
  stderr.write(
    values.control
      ? 'whoever has this address can pause, resume, stop and talk to your loops; Ctrl-C ends it\n'
      : 'it only shows (--control allows changes); Ctrl-C ends it\n',
  );
  if (values.open !== false && stdout.isTTY) await openInBrowser(dashboard.url, env);
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done());
  });
  await dashboard.close();
  return 0;
}

/** Beside the built commands. */
export const pageFolder = fileURLToPath(new URL('../web/', import.meta.url));
