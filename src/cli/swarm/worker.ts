import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { knownAgents } from '../../agents/registry.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { startDriver } from '../../cluster/driver-process.ts';
import type { MachineRules } from '../../cluster/messages.ts';
import { defaultLeaseMs } from '../../cluster/open.ts';
import { defaultFolder, placesIn, runIdStart } from '../../cluster/places.ts';
import { createWorker } from '../../cluster/worker.ts';
import { RalphError } from '../../core/error.ts';
import { outcomes } from '../../core/outcome.ts';
import { stampSeconds } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import { ensureDir, readText, writeAtomic } from '../../os/files/files.ts';
import { acquireLock } from '../../os/files/lock.ts';
import { realPath } from '../../os/files/real-path.ts';
import { findProgram, sweepRun } from '../../os/process/process.ts';
import { processesByRun } from '../../os/process/run-ids.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { chooseProvider } from '../../sandbox/open-sandbox.ts';
import { providerNames, type SandboxChoice } from '../../sandbox/sandbox.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needAddress, warnInTheClear, withCluster } from './open-cluster.ts';
import type { workerCommandOptions } from './options.ts';

/** Runs loops of a cluster on this machine until a signal ends it. */
export async function main(context: Context, { values }: Input<typeof workerCommandOptions>) {
  const { env } = context;
  warnInTheClear(context, needAddress(context, values));
  const folder = resolve(context.cwd, values.dir ?? defaultFolder(env));
  ensureDir(folder);
  const own = realPath(folder);
  const sandbox = await checkSandbox(context, own, values.sandbox ?? 'auto');
  const lock = takeFolder(own);
  try {
    // A worker that died may have left agents running.
    for (const run of processesByRun(runIdStart(own)).keys()) await sweepRun(run);
    const leaseMs = leaseOf(env.SWARM_LEASE_MS);
    const allowHosts = values['allow-host'] ?? [];
    const rules = { folder: own, sandbox, allowHosts, ralph: programCommand('ralph'), leaseMs };
    // Below a third of the lease: a renewal that got lost is tried again in time.
    const times = { leaseMs, callMs: Math.floor(0.3 * leaseMs) };
    return await withCluster(context, values, (cluster) => work(context, values, cluster, rules), times);
  } finally {
    lock.release();
  }
}

async function work(
  { env, stdout }: Context,
  values: Input<typeof workerCommandOptions>['values'],
  cluster: Cluster,
  rules: MachineRules,
): Promise<number> {
  const { folder, sandbox } = rules;
  const { slots = 1 } = values;
  const name = values.host ?? (values.dir === undefined ? hostname() : `${hostname()}-${basename(folder)}`);
  const labels = (values.labels ?? []).flatMap((text) => text.split(',').filter(Boolean));
  const isLocal = sandbox === 'none' || sandbox === 'bwrap';
  const agents = () =>
    isLocal ? { agents: knownAgents.filter((agent) => findProgram(agent, env) !== null) } : {};
  const host = await cluster.register({ host: name, labels, ...agents() }, idOf(folder));
  const say = (line: string) =>
    void stdout.stream.write(`${stampSeconds(systemClock.now())} ${cleanTerminal(line)}\n`);
  const programs = dirname(realPath(process.argv[1] ?? ''));
  const driver = [process.execPath, join(programs, 'commands', 'loop-driver.cjs')] as const;
  const worker = createWorker({
    cluster,
    host,
    labels,
    agents,
    slots,
    rules,
    clock: systemClock,
    say,
    start: (runId, hear) => startDriver({ driver, rules, env, clock: systemClock, say }, runId, hear),
  });
  const signals = listen(worker, say);
  const where = sandbox === 'none' ? 'without a sandbox' : `in a sandbox (${sandbox})`;
  say(`${host} takes loops, ${slots} at a time, ${where}; its files are in ${folder}`);
  if (host !== name) say(`another machine is called ${name}`);
  const hosts = await cluster.hosts().catch(() => []);
  const isDraining = hosts.some((one) => one.host === host && one.draining);
  if (isDraining) say(`${host} drains and takes nothing until: swarm drain ${host} --undo`);
  await worker.run();
  return signals.count() > 1 ? outcomes.INTERRUPTED.exitCode : 0;
}

/** First signal: finish the iterations and give the loops back. Second: end now. */
function listen(worker: { leave(): void; stop(): void }, say: (line: string) => void) {
  let signals = 0;
  const onSignal = () => {
    signals++;
    if (signals === 1) {
      say('Received signal, shutting down: each loop moves on after its iteration...');
      return worker.leave();
    }
    say('Stopping the agents now...');
    worker.stop();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return { count: () => signals };
}

async function checkSandbox(context: Context, folder: string, typed: string): Promise<SandboxChoice> {
  const choice = providerNames.find((name) => name === typed) ?? 'auto';
  return choice === 'none' ? 'none' : chooseProvider(choice, { cwd: folder, env: context.env });
}

/** Returns the id of this machine, which its folder keeps: two machines may have the same name. */
function idOf(folder: string): string {
  const file = placesIn(folder).id;
  const existing = readText(file)?.trim();
  if (existing) return existing;
  const id = randomUUID();
  writeAtomic(file, `${id}\n`);
  return id;
}

function takeFolder(folder: string) {
  const holding = acquireLock(placesIn(folder).lock, {});
  if (holding.ok) return holding.lock;
  const message = `a worker (process ${holding.owner.pid}) has the folder ${folder} already`;
  const remedy = 'swarm worker --dir ANOTHER-FOLDER, for a second one on this machine';
  throw new RalphError('worker-runs', message, { remedy, exitCode: 1 });
}

/** The lease in milliseconds. SWARM_LEASE_MS sets it, for tests; all machines of a cluster need the same. */
function leaseOf(text: string | undefined): number {
  const ms = Number(text);
  return Number.isFinite(ms) && ms >= 500 ? ms : defaultLeaseMs;
}
