import { fileURLToPath } from 'node:url';
import { RalphError } from '../core/error.ts';
import { readPage } from '../dashboard/page.ts';
import { startDashboard } from '../dashboard/server.ts';
import type { dashboardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export async function main(context: Context, { values }: Input<typeof dashboardOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const port = values.port ?? 0;
  if (port > 65_535) throw new RalphError('usage', `there is no port ${port}`, { remedy: 'ralph dashboard' });
  const dashboard = await startDashboard({
    env,
    cwd,
    page: readPage(pageFolder),
    version: __VERSION__,
    port,
    actions: null,
    screen: async () => null,
  });
  stdout.write(`${dashboard.url}\n`);
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done());
  });
  await dashboard.close();
  return 0;
}

/** Beside the built commands. */
export const pageFolder = fileURLToPath(new URL('../web/', import.meta.url));
