import * as v from 'valibot';
import type { LoopEnd } from '../fleet/files/loops.ts';
import type { Clock } from '../os/clock.ts';
import { sweepRun } from '../os/process/process.ts';
import { withoutMarks } from '../os/process/process-table.ts';
import { type Environment, outsideEnvironment } from '../os/process/program.ts';
import { type Argv, startChild } from '../os/process/spawn.ts';
import { type FromDriver, fromDriver, type MachineRules, type ToDriver } from './messages.ts';

/** Time that a driver gets to end before it is killed. */
const endMs = 20_000;

type DriverSpec = {
  /** The program that drives a loop. */
  readonly driver: Argv;
  readonly rules: MachineRules;
  readonly env: Environment;
  readonly clock: Clock;
  say(line: string): void;
};

export type Answer = Extract<FromDriver, { type: 'ended' | 'gave-up' }>;

export type DriverProcess = ReturnType<typeof startDriver>;

/** Starts the process that drives a loop. Its death counts as an answer: the iteration was given up. */
export function startDriver(spec: DriverSpec, runId: string, hear: (message: FromDriver) => void) {
  const { clock, rules, say } = spec;
  const waiting: ((answer: Answer) => void)[] = [];
  const answers: Answer[] = [];
  let heardAt = clock.monotonic();
  const arrive = (answer: Answer) => {
    const next = waiting.shift();
    if (next) next(answer);
    else answers.push(answer);
  };
  const driver = startChild(spec.driver, {
    cwd: '/',
    // Programs are not searched for in the worktrees.
    env: { ...outsideEnvironment(forAgents(spec.env), rules.folder), RALPH_RUN_ID: runId },
    onMessage(message) {
      heardAt = clock.monotonic();
      const { success, output } = v.safeParse(fromDriver, message);
      if (!success) driver.kill();
      else if (output.type === 'ended' || output.type === 'gave-up') arrive(output);
      else hear(output);
    },
    onStderr: (text) => say(text.trimEnd()),
  });
  const send = (message: ToDriver) => driver.send(message);
  const cleanedUp = driver.exited.then(async () => {
    await sweepRun(runId);
    arrive({ type: 'gave-up', kind: 'died', why: 'the process that ran it has died', keptRef: null });
  });
  return {
    send,
    answer: () => {
      const ready = answers.shift();
      return ready === undefined ? new Promise<Answer>((resolve) => waiting.push(resolve)) : ready;
    },
    /** Kills a driver that answered no renewal for a whole lease: it is frozen. */
    endIfSilent() {
      if (clock.monotonic() - heardAt > rules.leaseMs) driver.kill();
    },
    async close(end: LoopEnd | null) {
      send({ type: 'leave', end });
      const cancel = clock.timer(endMs, () => driver.kill());
      await cleanedUp;
      cancel();
    },
  };
}

/** Opens the channel to the `swarm worker` that started this process. Calls `onDisconnect` if that one dies. */
export function openDriverChannel(onMessage: (message: unknown) => void, onDisconnect: () => void) {
  let sending = Promise.resolve();
  process.on('message', onMessage);
  process.once('disconnect', onDisconnect);
  return {
    send(message: FromDriver): void {
      const delivery = new Promise<void>((resolve) => {
        if (!process.connected || process.send === undefined) return resolve();
        process.send(message, undefined, undefined, () => resolve());
      });
      sending = Promise.all([sending, delivery]).then(() => {});
    },
    /** Waits until all messages are sent. */
    flush: () => sending,
  };
}

/** Environment of the machine without the store's address and password. */
function forAgents(env: Environment): Environment {
  const own = Object.entries(withoutMarks(env)).filter(([name]) => !name.startsWith('SWARM_CLUSTER'));
  return Object.fromEntries(own);
}
