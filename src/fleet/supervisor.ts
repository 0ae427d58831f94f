import { messageOf } from '../core/error.ts';
import { watchFolder } from '../os/files/watch-folder.ts';
import type { Environment } from '../os/process/program.ts';
import { pauseLoop } from './control.ts';
import { handleLoop } from './drive-loop.ts';
import { driveScreens } from './drive-screens.ts';
import { listLoops, loopOf, readLoop, repairLoop } from './files/loops.ts';
import { fleetPaths } from './files/paths.ts';
import { ensureSignals } from './files/signal-files.ts';
import { readWorkers } from './files/workers.ts';
import { endRunOf } from './supervised-run.ts';
import { newSupervision, type Supervision, type SupervisorOptions, takeWorkers } from './supervision.ts';
import { needsDriving } from './what-next.ts';

export type Supervisor = ReturnType<typeof createSupervisor>;

export function hasWork(env: Environment): boolean {
  return readWorkers(env).workers.some((worker) => needsDriving(loopOf(env, worker)));
}

/** Interval at which everything is read again, even without a signal. */
const rereadMs = 30_000;
const busyMs = 20;
/** Delay of a look that a busy machine has now and then. */
const slackMs = 1000;

export function createSupervisor(options: SupervisorOptions) {
  const all = newSupervision(options);
  let wake = () => {};
  let pausing: Promise<void> | null = null;
  /** Sleeps until the next look, or until `wake`. */
  const nap = () =>
    new Promise<void>((resolve) => {
      const cancel = all.clock.timer(all.tickMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });

  return {
    /** Drives all loops until none is left and `mayLeave` returns true. */
    async run(mayLeave: () => boolean) {
      ensureSignals(all.env);
      repairAfterCrash(all);
      const stopWatching = watchSignals(all, () => wake());
      try {
        await driveAll(all, mayLeave, nap);
      } finally {
        stopWatching?.();
        for (const server of all.servers.values()) server.close();
        for (const one of all.loops.values()) one.cancelTimer();
        await pausing;
        while ([...all.loops.values()].some(({ busy }) => busy)) await all.clock.sleep(busyMs);
        await Promise.all(all.notices);
        all.registry.flush();
      }
    },
    /** Pauses all loops and ends; their agents go on. */
    pauseAll() {
      all.leaving = true;
      pausing ??= pauseLoops(all);
      wake();
    },
  };
}

/** Completes what a killed supervisor had booked, but not written everywhere. */
function repairAfterCrash({ env, registry }: Supervision): void {
  for (const name of listLoops(env)) repairLoop(env, name);
  // A worker counts as running until its end is in the journal of the run.
  for (const worker of registry.read())
    if (worker.status === 'running') endRunOf(worker, loopOf(env, worker));
}

async function driveAll(all: Supervision, mayLeave: () => boolean, nap: () => Promise<void>): Promise<void> {
  const { clock, loops, notices, registry } = all;
  let rereadAt = 0;
  let lookedAt = clock.monotonic();
  while (!all.leaving) {
    // Nobody could see an agent work while the supervisor was late: that time counts for no silence.
    all.lateMs += Math.max(0, clock.monotonic() - lookedAt - all.tickMs - slackMs);
    lookedAt = clock.monotonic();
    if (clock.monotonic() >= rereadAt || registry.isStale()) {
      takeWorkers(all);
      rereadAt = clock.monotonic() + rereadMs;
      await Promise.all([...loops.values()].map((one) => handleLoop(all, one)));
    }
    await driveScreens(all);
    registry.flush();
    if (loops.size === 0 && notices.size === 0 && mayLeave()) return;
    await nap();
  }
}

/** Handles a loop at once when its iteration ends or a command changes it. Returns a function that stops watching. */
function watchSignals(all: Supervision, wake: () => void): (() => void) | null {
  return watchFolder(fleetPaths(all.env).signals, (file) => {
    if (!/\.(?:ended|changed)$/.test(file)) return;
    const name = file.replace(/\.(?:ended|changed)$/, '');
    const one = all.loops.get(name);
    if (one === undefined) {
      all.registry.distrust();
      return wake();
    }
    one.loop = readLoop(all.env, name) ?? one.loop;
    void handleLoop(all, one);
  });
}

/** Pauses all loops at once, but one whose iteration starts just now: that one a moment later. */
async function pauseLoops(all: Supervision): Promise<void> {
  const { loops, env, clock, say } = all;
  takeWorkers(all);
  await Promise.all(
    [...loops.keys()].map(async (name) => {
      try {
        const { changed } = await pauseLoop(env, name, clock.now(), 'sigterm');
        if (changed) say(`[ralph] ${name}: paused`);
      } catch (error) {
        say(`swarm: error: ${name}: ${messageOf(error)}`);
      }
    }),
  );
}
