import { agentNameOf } from '../../agents/registry.ts';
import { lostText, pauseLoop, resumeLoop } from '../../fleet/control.ts';
import { endWorker, forgetWorker } from '../../fleet/end-worker.ts';
import { readTimeline } from '../../fleet/files/events.ts';
import { readLimits, releaseAccount, setMaxParallel } from '../../fleet/files/limits.ts';
import { readLogLines } from '../../fleet/files/log.ts';
import { type LoopRecord, listLoops, loopOf, type Why } from '../../fleet/files/loops.ts';
import { loopPaths } from '../../fleet/files/paths.ts';
import { ensureSignals, signalChange } from '../../fleet/files/signal-files.ts';
import { readStamp } from '../../fleet/files/time.ts';
import { updateWorker, type Worker, worktreeOf } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { lookAtWorker, runningNow } from '../../fleet/live.ts';
import { classify } from '../../fleet/screen/classify.ts';
import { runOf } from '../../fleet/supervised-run.ts';
import { topView } from '../../fleet/top.ts';
import { nextCommand } from '../../fleet/why.ts';
import { removeWorktree } from '../../fleet/worktree-dirt.ts';
import { readRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import type { Environment } from '../../os/process/program.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warn, warnOfDamage } from './context.ts';
import type { Fleet, History, Member, WorktreeChoice } from './fleet.ts';
import { wantsCluster, withCluster } from './open-cluster.ts';

/** Calls `use` with the fleet that the command is about. */
export async function withFleet<T>(
  context: Context,
  values: { readonly cluster?: string },
  use: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  if (!wantsCluster(context, values)) return use(localFleet(context));
  const { clusterFleet } = await import('./cluster-fleet.ts');
  return withCluster(context, values, (cluster) => use(clusterFleet(cluster)));
}

function localFleet(context: Context): Fleet {
  const { env } = context;
  return {
    isCluster: false,
    async all(only) {
      const workers = (await allWorkers(context)).filter(({ name }) => only === undefined || name === only);
      const running = await runningNow(env, workers);
      return workers.map((worker, index) => memberOf(worker, running[index] === true, loopOf(env, worker)));
    },
    async need(name, exitCode = 1) {
      const worker = await needWorker(context, name, { exitCode });
      const [running = false] = await runningNow(env, [worker]);
      return memberOf(worker, running, readLoopOf(context, worker));
    },
    loops: async () => (await allWorkers(context)).flatMap((worker) => readLoopOf(context, worker) ?? []),
    needLoop: (name, revive) => needLoop(context, name, revive),
    pause: async (name) => (await pauseLoop(env, name, systemClock.now())).changed,
    async resume(name) {
      const { changed, lost } = await resumeLoop(env, name, systemClock.now(), programCommand('swarm'));
      if (!changed) await allWorkers(context);
      return changed ? (lost === undefined ? '' : `: ${lostText(lost)}`) : null;
    },
    end: async (name, worktree) => end(context, await needWorker(context, name), worktree),
    forget: async (name, worktree) => forget(context, await needWorker(context, name), worktree),
    explain: async ({ name }) => explain(env, await needWorker(context, name)),
    history: async (name) => historyOf(env, await needWorker(context, name)),
    log: async (name) => readLogLines(loopPaths(env, name).log),
    async top() {
      await allWorkers(context);
      return topView(env, systemClock.now());
    },
    limits: async () => readLimits(env),
    setLimits: async (change) => setLimits(env, change),
    async releaseAccount(account) {
      const isHeld = releaseAccount(env, account);
      wakeLoops(env);
      return isHeld;
    },
  };
}

function memberOf(worker: Worker, running: boolean, loop: LoopRecord | null): Member {
  const { name, tmux, pid, started, metadata } = worker;
  const worktree = worktreeOf(worker);
  return {
    name,
    running,
    isLoop: metadata.ralph === true,
    loop,
    startedAt: readStamp(started) ?? systemClock.now(),
    place: [
      tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
      ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    ],
  };
}

function readLoopOf(context: Context, worker: Worker): LoopRecord | null {
  const loop = loopOf(context.env, worker);
  warnOfDamage(context, worker, loop);
  return loop;
}

async function needLoop(context: Context, name: string | undefined, revive = true): Promise<LoopRecord> {
  const worker = await needWorker(context, name, { revive });
  if (worker.metadata.ralph !== true) throw fault(`worker '${worker.name}' is not a ralph worker`);
  const loop = readLoopOf(context, worker);
  if (loop === null) throw fault(`the loop of '${worker.name}' is gone`, `swarm kill ${worker.name}`);
  return loop;
}

function end(context: Context, worker: Worker, worktree?: WorktreeChoice): Promise<void> {
  const { env } = context;
  return holdWorker(env, worker.name, async () => {
    await endWorker(env, worker, systemClock.now());
    const place = worktreeOf(worker);
    if (place === null || !worktree?.remove) return;
    const removal = await removeWorktree(place, worktree.force);
    if (removal.removed) return updateWorker(env, worker.name, { worktree: { ...place, removed: true } });
    warn(context, `cannot remove worktree for '${worker.name}': ${removal.because}`);
    context.stderr.write('swarm: use --force-dirty to remove anyway\n');
  });
}

/** Takes a worker off the list and removes its files, except a worktree that holds work. */
async function forget(context: Context, worker: Worker, { remove, force }: WorktreeChoice) {
  const { env } = context;
  const { running } = await lookAtWorker(env, worker);
  if (running) return 'running';
  // The worker of a paused loop is stopped, but its loop is not over.
  if (loopOf(env, worker)?.status === 'paused') return 'paused';
  await holdWorker(env, worker.name, async () => {
    await endWorker(env, worker, systemClock.now());
    const place = worktreeOf(worker);
    const removal = place === null || !remove ? null : await removeWorktree(place, force);
    if (place !== null && removal?.removed === false) {
      warn(context, `preserving worktree for '${worker.name}': ${removal.because}`);
      context.stderr.write(`swarm: worktree at: ${place.path}\n`);
      context.stderr.write('swarm: use --force-dirty to remove anyway\n');
      // No command of ours finds the worktree of a worker that is off the list.
      const command = `git -C '${place.base_repo}' worktree remove --force '${place.path}'`;
      context.stderr.write(`swarm: from now on with: ${command}\n`);
    }
    forgetWorker(env, worker.name);
  });
  return null;
}

async function explain(env: Environment, worker: Worker) {
  const loop = loopOf(env, worker);
  const gone = worker.metadata.ralph === true ? { detail: 'its loop is gone' } : {};
  const why = loop?.why ?? { ...(await plainWhy(env, worker)), ...gone };
  const next = nextCommand(worker.name, why);
  return { why, hints: next === null ? [] : [`next: ${next}`] };
}

/** A worker without a loop has no record: this looks at its window. */
async function plainWhy(env: Environment, worker: Worker): Promise<Why> {
  const since = readStamp(worker.started) ?? systemClock.now();
  const { running, pane } = await lookAtWorker(env, worker);
  if (!running) return { state: 'stopped', since };
  if (pane === null || worker.tmux === null) return { state: 'working', since };
  const lines = await tmuxServer(worker.tmux.socket, env).capture(pane.id);
  const screen = classify(agentNameOf(worker.cmd[0] ?? ''), lines, systemClock.now());
  return { since, ...(screen ?? { state: 'working' }) };
}

function historyOf(env: Environment, worker: Worker): History {
  const timeline = readTimeline(loopPaths(env, worker.name).events);
  const loop = loopOf(env, worker);
  const run = loop && runOf(worker, loop);
  if (run === null) return { timeline, journal: null };
  const { damaged, unknown } = readRun(run.cwd, run.id).view;
  return { timeline, journal: { damaged, unknown } };
}

function setLimits(env: Environment, change: Parameters<Fleet['setLimits']>[0]): void {
  if (change.startsPerMinute != null || change.maxCostUsd != null) {
    throw fault(
      'these limits hold over a cluster',
      'swarm limits --cluster URL, or swarm spawn --max-cost for one loop',
    );
  }
  if (change.maxParallel === undefined) return;
  setMaxParallel(env, change.maxParallel);
  wakeLoops(env);
}

function wakeLoops(env: Environment): void {
  ensureSignals(env);
  for (const name of listLoops(env)) signalChange(env, name);
}
