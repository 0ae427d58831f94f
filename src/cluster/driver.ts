import { messageOf } from '../core/error.ts';
import type { LoopEnd } from '../fleet/files/loops.ts';
import { systemClock } from '../os/clock.ts';
import type { Environment } from '../os/process/program.ts';
import type { RunningLoop } from './iteration.ts';
import { type LeaseWatch, watchLease } from './lease.ts';
import type { FromDriver, MachineRules, ToDriver } from './messages.ts';
import type { LoopJob } from './orders.ts';
import { closeLoop, keepRest, openLoop, runIn } from './running-loop.ts';
import { isFaultOfMachine, type Setback } from './setback.ts';

/** Runs one loop on this machine, iteration by iteration, as `swarm worker` tells it. */
export function createDriver(env: Environment, send: (message: FromDriver) => void) {
  const stop = new AbortController();
  let reason: Setback = { kind: 'stopped', why: '' };
  let lease: LeaseWatch | null = null;
  let working: Promise<void> = Promise.resolve();
  let loop: RunningLoop | null = null;

  function end(kind: Setback['kind'], why: string): void {
    if (!stop.signal.aborted) reason = { kind, why };
    stop.abort();
  }

  /** Runs the steps one after the other; a failure ends the loop here. */
  function next(step: () => Promise<void>): void {
    working = working.then(step).catch(async (error) => {
      const why = messageOf(error);
      await giveUp({ kind: isFaultOfMachine(why) ? 'machine' : 'unprepared', why });
    });
  }

  function begin(job: LoopJob, rules: MachineRules): void {
    lease = watchLease(systemClock, rules.leaseMs, () => end('lease', 'the lease could not be renewed'));
    next(async () => {
      loop = await openLoop({ env, job, rules, stop: stop.signal, send });
    });
  }

  async function runOne(iteration: number): Promise<void> {
    if (loop === null) return;
    const result = await runIn(loop, iteration);
    if ('type' in result) return send(result);
    await giveUp(result.kind === 'stopped' ? reason : result);
  }

  async function giveUp(setback: Setback): Promise<void> {
    const keptRef = loop === null ? null : await keepRest(loop, setback.why).catch(() => null);
    send({ type: 'gave-up', ...setback, keptRef });
  }

  return {
    hear(message: ToDriver): void {
      if (message.type === 'begin') begin(message.job, message.rules);
      if (message.type === 'run') next(() => runOne(message.iteration));
      if (message.type === 'stop') end('stopped', message.why);
      if (message.type !== 'renewed') return;
      lease?.renewed(message.age);
      send({ type: 'alive' });
    },
    /** Ends the agent and waits until nothing of it is left. Removes the worktree if the loop has ended. */
    async close(why: string, loopEnd: LoopEnd | null = null): Promise<void> {
      end('stopped', why);
      await working;
      lease?.end();
      if (loop !== null) await closeLoop(loop, loopEnd);
    },
  };
}
