import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { defaultLeaseMs, openCluster } from '../cluster/open.ts';
import { defaultFolder, placesIn, runIdStart } from '../cluster/places.ts';
import { createWorker } from '../cluster/worker.ts';
import { RalphError } from '../core/error.ts';
import { chooseProvider } from '../safety/sandbox/open-sandbox.ts';
import type { SandboxChoice } from '../safety/sandbox/sandbox.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { stampSeconds } from '../store/fleet-time.ts';
import { systemClock } from '../system/clock.ts';
import { ensureDir } from '../system/files.ts';
import { acquireLock } from '../system/lock.ts';
import { sweepRun } from '../system/process.ts';
import { realPath } from '../system/real-path.ts';
import { processesByRun } from '../system/run-ids.ts';
import type { Context, Input } from './spec.ts';
import { ralphCommand } from './swarm-context.ts';
import type { workerCommandOptions } from './swarm-options.ts';

/** Runs loops of a cluster on this machine until it is told to end. */
export async function main(
  context: Context,
  { values }: Input<typeof workerCommandOptions>,
): Promise<number> {
  const { env, stdout } = context;
  const engine = values.engine ?? env.SWARM_ENGINE;
  if (engine === undefined || engine === '') {
    throw new RalphError('usage', 'a worker needs the address of its store', {
      remedy: 'swarm worker --engine redis://HOST:6379',
    });
  }
  const folder = resolve(context.cwd, values.dir ?? defaultFolder(env));
  const sandbox = await checkSandbox(context, folder, values.sandbox ?? 'auto');
  ensureDir(folder);
  const own = realPath(folder);
  const host = values.host ?? (values.dir === undefined ? hostname() : `${hostname()}-${basename(own)}`);
  const lock = takeFolder(own);
  try {
    // What a worker before us left running when it died.
    for (const run of processesByRun(runIdStart(own)).keys()) await sweepRun(run);
    const leaseMs = leaseOf(env.SWARM_LEASE_MS);
    const cluster = await openCluster(engine, { leaseMs });
    const say = (line: string) =>
      void stdout.write(`${stampSeconds(systemClock.now())} ${cleanTerminal(line)}\n`);
    const worker = createWorker({
      cluster,
      host,
      labels: (values.labels ?? []).flatMap((text) => text.split(',').filter(Boolean)),
      slots: values.slots ?? 1,
      rules: { folder: own, sandbox, allowHosts: values['allow-host'] ?? [], ralph: ralphCommand(), leaseMs },
      runner: [process.execPath, join(dirname(realPath(process.argv[1] ?? '')), 'loop-runner.cjs')],
      env,
      clock: systemClock,
      say,
    });
    const end = endOnSignals(worker, say);
    const unprotected = sandbox === 'none' ? ', without a sandbox' : ` in a sandbox (${sandbox})`;
    say(
      `${host} takes loops, ${values.slots ?? 1} at a time,${unprotected.replace(/^,/, '')}; its files are in ${own}`,
    );
    await worker.run();
    await cluster.close();
    return end.code();
  } finally {
    lock.release();
  }
}

/** First signal: finish the iterations and give the loops back. Second: end now. */
function endOnSignals(worker: { leave(): void; stop(): void }, say: (line: string) => void) {
  let signals = 0;
  const onSignal = () => {
    signals++;
    say(
      signals === 1
        ? 'Received signal, shutting down: each loop moves on after its iteration...'
        : 'Stopping the agents now...',
    );
    if (signals === 1) worker.leave();
    else worker.stop();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return { code: () => (signals > 1 ? 130 : 0) };
}

/** Before anything is taken: a machine that cannot protect itself takes nothing. */
async function checkSandbox(context: Context, folder: string, wanted: string): Promise<SandboxChoice> {
  const choice = wanted === '' ? 'auto' : (wanted as SandboxChoice);
  if (choice === 'none') return 'none';
  return chooseProvider(choice, { cwd: dirname(folder), env: context.env });
}

function takeFolder(folder: string) {
  const taken = acquireLock(placesIn(folder).lock, {});
  if (taken.ok) return taken.lock;
  throw new RalphError(
    'worker-runs',
    `a worker (process ${taken.owner.pid}) has the folder ${folder} already`,
    {
      remedy: 'swarm worker --dir ANOTHER-FOLDER, for a second one on this machine',
      exitCode: 1,
    },
  );
}

/** SWARM_LEASE_MS: for tests; all machines of a cluster have to have the same. */
function leaseOf(text: string | undefined): number {
  const ms = Number(text);
  return Number.isFinite(ms) && ms >= 500 ? ms : defaultLeaseMs;
}
