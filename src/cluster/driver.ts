import { messageOf } from '../core/error.ts';
import type { LoopEnd } from '../fleet/files/loops.ts';
import type { Environment } from '../os/process/program.ts';
import type { LoopJob } from './cluster.ts';
import { isFaultOfMachine } from './faults.ts';
import { type LeaseWatch, watchLease } from './lease.ts';
import type { FromDriver, GaveUp, MachineRules, ToDriver } from './messages.ts';
import { closeLoop, keepRest, openLoop, type RunningLoop, runIn } from './running-loop.ts';

/** Runs one loop on this machine, iteration by iteration, as `swarm worker` tells it. */
export function createDriver(env: Environment, send: (message: FromDriver) => void) {
  const stop = new AbortController();
  let because: GaveUp = 'stopped';
  let lease: LeaseWatch | null = null;
  let working: Promise<void> = Promise.resolve();
  let loop: RunningLoop | null = null;

  function end(why: GaveUp, text: string): void {
    if (!stop.signal.aborted) because = why;
    stop.abort(text);
  }

  /** Runs the steps one after the other; a failure ends the loop here. */
  function next(step: () => Promise<void>): void {
    working = working.then(step).catch(async (error) => {
      const text = messageOf(error);
      await giveUp(isFaultOfMachine(text) ? 'machine' : 'unprepared', text);
    });
  }

  function begin(job: LoopJob, rules: MachineRules): void {
    lease = watchLease(rules.leaseMs, () => end('lease', 'the lease could not be renewed'));
    next(async () => {
      loop = await openLoop({ env, job, rules, stop: stop.signal, send });
    });
  }

  async function runOne(iteration: number): Promise<void> {
    if (loop === null) return;
    const ran = await runIn(loop, iteration);
    if (ran.type === 'ended') return send(ran);
    const isStopped = ran.because === 'stopped' && stop.signal.aborted;
    await giveUp(isStopped ? because : ran.because, isStopped ? String(stop.signal.reason) : ran.why);
  }

  async function giveUp(why: GaveUp, text: string): Promise<void> {
    const keptRef = loop === null ? null : await keepRest(loop, text).catch(() => null);
    send({ type: 'gave-up', because: why, why: text, keptRef });
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
