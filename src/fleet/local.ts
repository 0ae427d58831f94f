import { RalphError } from '../core/error.ts';
import { holdAccount, holdingLimits, readLimits, setMaxParallel } from '../store/fleet-limits.ts';
import { applyStep, createLoop, type LoopRecord, readLoop, updateLoop } from '../store/fleet-loops.ts';
import { markChanged, removeMarks } from '../store/fleet-marks.ts';
import { defaultSession } from '../store/fleet-paths.ts';
import { stamp } from '../store/fleet-time.ts';
import { readWorkers, updateWorkers, type Worker } from '../store/fleet-workers.ts';
import type { Environment } from '../system/program.ts';
import { accountOfLoop, mayStart } from './admission.ts';
import { bookEnd } from './book-end.ts';
import { type Change, pauseLoop, resumeLoop, stopLoop } from './control.ts';
import { holdLoop } from './hold.ts';
import type { Claim, Controlled, Fleet, LoopOrder, LoopView, Next } from './port.ts';
import { newRecord } from './record.ts';
import { claim as claimStep } from './start-iteration.ts';

/** The fleet of this machine: files and locks, no server. */
export function localFleet(env: Environment, clock: { now(): number }): Fleet {
  const now = () => clock.now();

  async function submit(order: LoopOrder): Promise<boolean> {
    let added = false;
    updateWorkers(env, (workers) => {
      const before = workers.find(({ name }) => name === order.name);
      if (isOpen(readLoop(env, order.name))) return workers;
      if (before?.status === 'running' && before.metadata.ralph !== true) return workers;
      added = true;
      removeMarks(env, order.name);
      createLoop(env, newRecord(order.name, { ...order, held: false }, now()));
      return [...workers.filter(({ name }) => name !== order.name), workerOf(env, order, now())];
    });
    if (added) markChanged(env, order.name);
    return added;
  }

  /** First the loop, then the limits: everybody takes the two locks in this order. */
  function claimLoop(worker: Worker): Promise<Claim | null> {
    return holdLoop(env, worker.name, async () => holdingLimits(env, () => claimWithin(worker)));
  }

  function claimWithin(worker: Worker): Claim | null {
    let given: Claim | null = null;
    applyStep(env, worker.name, (loop) => {
      const isDue = loop.status === 'running' && !loop.held && loop.iteration === loop.ended;
      if (!isDue || (loop.waitUntil ?? 0) > now()) return null;
      if (!mayStart(env, worker, loop, now()).admitted) return null;
      const step = claimStep(loop, now());
      given = claimOf({ ...loop, ...step.change });
      return step;
    });
    return given;
  }

  const control = (name: string, { changed }: Change): Controlled => ({ changed, view: viewOf(env, name) });

  return {
    submit,
    async claim() {
      for (const worker of readWorkers(env).workers) {
        const given = worker.metadata.ralph === true ? await claimLoop(worker) : null;
        if (given !== null) return given;
      }
      return null;
    },
    async heartbeat(claim) {
      const loop = readLoop(env, claim.name);
      if (loop === null || !isCurrent(loop, claim)) return { kind: 'lost' };
      if (loop.status === 'stopped' || loop.status === 'failed') return { kind: 'cancelled' };
      return { kind: 'go-on', pausing: loop.status === 'paused' };
    },
    async finishIteration(claim, end) {
      if (end.how === 'limited' && end.limitUntil !== undefined) await holdFor(claim.name, end.limitUntil);
      let next: Next = { kind: 'continue', claim: null };
      const after = updateLoop(env, claim.name, (loop) => {
        if (!isCurrent(loop, claim) || loop.ended >= loop.iteration) return null;
        const booked = bookEnd(loop, end);
        next = booked.next;
        return booked.step;
      });
      if (after === null || !isCurrent(after, claim)) {
        throw new RalphError('claim-lost', `the claim on '${claim.name}' is not valid any more`, {
          exitCode: 1,
        });
      }
      return next;
    },
    async giveBack(claim) {
      updateLoop(env, claim.name, (loop) => {
        if (!isCurrent(loop, claim) || loop.iteration === loop.ended) return null;
        return {
          change: { iteration: loop.ended, launch: loop.launch + 1, why: { state: 'queued', since: now() } },
        };
      });
    },
    pause: async (name) => control(name, pauseLoop(env, name, now())),
    resume: async (name) => control(name, resumeLoop(env, name, now())),
    cancel: async (name) => control(name, stopLoop(env, name, now())),
    status: async (name) => viewOf(env, name),
    list: async () =>
      readWorkers(env).workers.flatMap(({ name, metadata }) => {
        const view = metadata.ralph === true ? viewOf(env, name) : null;
        return view === null ? [] : [view];
      }),
    limits: async () => readLimits(env),
    setMaxParallel: async (maxParallel) => setMaxParallel(env, maxParallel),
    holdAccount: async (account, until) => holdAccount(env, account, until, now()),
    close: async () => {},
  };

  async function holdFor(name: string, until: number): Promise<void> {
    const worker = readWorkers(env).workers.find((one) => one.name === name);
    const loop = readLoop(env, name);
    const account = worker && loop ? accountOfLoop(worker, loop) : null;
    if (account !== null) holdAccount(env, account, until, now());
  }
}

function claimOf({ name, iteration, launch, settings }: LoopRecord): Claim {
  return { name, iteration, maxIterations: settings.max_iterations, token: String(launch) };
}

function isOpen(loop: LoopRecord | null): boolean {
  return loop?.status === 'running' || loop?.status === 'paused';
}

function isCurrent(loop: LoopRecord, claim: Claim): boolean {
  return String(loop.launch) === claim.token;
}

function viewOf(env: Environment, name: string): LoopView | null {
  const loop = readLoop(env, name);
  if (loop === null) return null;
  const { status, iteration, settings, startedAt, iterationStartedAt, failures, totalFailures, why, end } =
    loop;
  return {
    name,
    status,
    iteration,
    maxIterations: settings.max_iterations,
    startedAt,
    iterationStartedAt,
    failures,
    totalFailures,
    why,
    end,
    host: null,
  };
}

function workerOf(
  env: Environment,
  { name, command, cwd, env: variables, tags }: LoopOrder,
  at: number,
): Worker {
  return {
    name,
    status: 'running',
    cmd: command,
    started: stamp(at),
    cwd,
    env: variables,
    tags,
    tmux: { session: defaultSession(env), window: name, socket: null },
    worktree: null,
    pid: null,
    metadata: { ralph: true, ralph_iteration: 0 },
  };
}
