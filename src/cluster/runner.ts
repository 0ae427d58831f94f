import { join } from 'node:path';
import { agentNameOf } from '../agents/registry.ts';
import { messageOf } from '../core/error.ts';
import type { SealedEnd } from '../fleet/iteration-end.ts';
import { endRun } from '../fleet/supervised-run.ts';
import { openSandbox } from '../safety/sandbox/open-sandbox.ts';
import { noSandbox, type Sandbox } from '../safety/sandbox/sandbox.ts';
import type { LoopEnd } from '../store/fleet-loops.ts';
import { systemClock } from '../system/clock.ts';
import { ensureDir, lstatOf, moveFolder } from '../system/files.ts';
import { findProgram, sweepRun } from '../system/process.ts';
import type { Environment } from '../system/program.ts';
import { isWithin, realPath } from '../system/real-path.ts';
import { type Checkout, openCheckout, removeCheckout } from './checkout.ts';
import { type IterationSpec, runIteration, runOfJob } from './iteration.ts';
import type { LoopJob } from './job.ts';
import { keepWork } from './kept.ts';
import type { FromRunner, GaveUp, MachineRules, ToRunner } from './messages.ts';
import { checkLoopName, placesIn, runIdOf } from './places.ts';
import { pushWork, sealWork } from './publish.ts';
import { type RunnerLease, watchLease } from './runner-lease.ts';

/** So long a repository that cannot be reached is tried again. */
const patienceMs = 2 * 60_000;
const longestPauseMs = 15_000;

/** Runs one loop on this machine, iteration by iteration, as the process beside it says. */
export function createRunner(env: Environment, send: (message: FromRunner) => void) {
  const stop = new AbortController();
  let because: GaveUp = 'stopped';
  let lease: RunnerLease | null = null;
  let working: Promise<void> = Promise.resolve();
  let loop: RunningLoop | null = null;

  function end(why: GaveUp, text: string): void {
    if (!stop.signal.aborted) because = why;
    stop.abort(text);
  }

  /** One after the other; what fails ends the loop here. */
  function next(step: () => Promise<void>): void {
    working = working.then(step).catch(async (error) => {
      await giveUp('unreachable', messageOf(error));
    });
  }

  function begin(job: LoopJob, rules: MachineRules): void {
    lease = watchLease(rules.leaseMs, () => end('lease', 'the lease could not be renewed'));
    next(async () => {
      loop = await openLoop(env, job, rules, stop.signal, send);
    });
  }

  async function runOne(iteration: number): Promise<void> {
    const ran = await loop?.run(iteration);
    if (ran === undefined) return;
    if (ran.type === 'ended') return send(ran);
    const isStopped = ran.because === 'stopped' && stop.signal.aborted;
    await giveUp(isStopped ? because : ran.because, isStopped ? String(stop.signal.reason) : ran.why);
  }

  async function giveUp(why: GaveUp, text: string): Promise<void> {
    const kept = await loop?.keep(text).catch(() => null);
    send({ type: 'gave-up', because: why, why: text, kept: kept ?? null });
  }

  return {
    hear(message: ToRunner): void {
      if (message.type === 'begin') begin(message.job, message.rules);
      if (message.type === 'run') next(() => runOne(message.iteration));
      if (message.type === 'stop') end('stopped', message.why);
      if (message.type !== 'renewed') return;
      lease?.renewed(message.age);
      send({ type: 'alive' });
    },
    /** Ends the agent, and comes back when nothing of it is left; nor of the worktree, where the loop has ended. */
    async close(why: string, ended: LoopEnd | null = null): Promise<void> {
      end('stopped', why);
      await working;
      lease?.end();
      await loop?.close(ended);
    },
  };
}

type Ended = Extract<FromRunner, { type: 'ended' }>;
type Failed = { readonly type: 'failed'; readonly because: GaveUp; readonly why: string };

type RunningLoop = {
  run(iteration: number): Promise<Ended | Failed>;
  /** Where work that is not on the branch is kept now. */
  keep(why: string): Promise<string | null>;
  /** Ends the run and removes the worktree, where the loop has ended. */
  close(ended: LoopEnd | null): Promise<void>;
};

async function openLoop(
  env: Environment,
  job: LoopJob,
  rules: MachineRules,
  stop: AbortSignal,
  send: (message: FromRunner) => void,
): Promise<RunningLoop> {
  checkLoopName(job.name);
  const places = placesIn(rules.folder);
  const runId = runIdOf(rules.folder, job.name);
  const record = places.record(job.name);
  ensureDir(record.root);
  // What a process before us left running would work beside us.
  await sweepRun(runId);
  let checkout: Checkout | null = null;
  let place = '';
  let sandbox: Sandbox | null = null;
  let isKept = false;
  let carried: { readonly carried?: string } = {};
  const passed = Object.fromEntries(job.pass.map((name) => [name, env[name]]));
  const tell = (type: 'fenced' | 'kept' | 'notice', text: string) =>
    send({ type: 'tells', event: { at: systemClock.now(), type, text } });

  async function prepare(): Promise<Failed | null> {
    if (checkout !== null) return null;
    const opened = await patiently(stop, async () => {
      const result = await openCheckout(places, job);
      return result.ok || result.lasting ? result : { again: result };
    });
    if (!opened.ok) return failed(opened.lasting ? 'impossible' : 'unreachable', opened.why);
    if (opened.kept !== null)
      tell('kept', `work of an earlier try is kept in ${keptAt(opened.checkout, opened.kept)}`);
    checkout = opened.checkout;
    place = realPath(join(checkout.path, job.cwd));
    if (!isWithin(place, realPath(checkout.path)) || !lstatOf(place)?.isDirectory()) {
      return failed('impossible', `there is no folder ${job.cwd} in the repository`);
    }
    if (job.options.run !== undefined || sandbox !== null) return null;
    const program = findProgram(job.command[0] ?? '', env);
    sandbox = await openSandbox(rules.sandbox, {
      cwd: place,
      env: { ...env, ...job.env },
      agent: agentNameOf(job.command[0] ?? ''),
      ...(program === null ? {} : { program }),
      allowHosts: rules.allowHosts,
      variables: ['SWARM_WORKER', ...Object.keys(job.env), ...job.pass],
    });
    return null;
  }

  async function run(iteration: number): Promise<Ended | Failed> {
    const problem = await prepare();
    if (problem !== null || checkout === null)
      return problem ?? failed('unreachable', 'there is no worktree');
    const seal = checkout.seals.get(iteration);
    if (seal !== undefined) {
      return { type: 'ended', iteration, end: seal.end, head: checkout.start, found: true };
    }
    if (stop.aborted) return failed('stopped', String(stop.reason));
    carried = {};
    const end = await runIteration(specFor(iteration));
    return end === null ? failed('stopped', String(stop.reason)) : deliver(iteration, end, checkout);
  }

  async function deliver(iteration: number, end: SealedEnd, from: Checkout): Promise<Ended | Failed> {
    const ended = { type: 'ended', iteration, end, found: false, ...carried } as const;
    const { commit, kept, warnings } = await sealWork(from, job, iteration, end);
    for (const warning of warnings) tell('notice', warning);
    if (kept !== null) tell('kept', `what the agent had committed is kept in ${keptAt(from, kept)}`);
    if (commit === null) return { ...ended, head: from.start };
    const { pushed, checkout: after } = await patiently(stop, async () => {
      const result = await pushWork(from, job, commit);
      return result.pushed.kind === 'unreachable' ? { again: result } : result;
    });
    checkout = after;
    if (pushed.kind === 'pushed') return { ...ended, head: commit };
    if (pushed.kind === 'fenced') {
      const now = pushed.found === null ? 'gone' : `at ${pushed.found.slice(0, 12)}`;
      tell('fenced', `the push of iteration ${iteration} was refused: the branch is ${now}`);
      return failed('fenced', 'another machine has moved the branch');
    }
    return failed(pushed.kind === 'refused' ? 'impossible' : 'unreachable', `the push failed: ${pushed.why}`);
  }

  /** Once: after it, nothing runs here any more. */
  async function keep(why: string): Promise<string | null> {
    if (checkout === null || isKept) return null;
    const kept = await keepWork(checkout, job, why);
    isKept = true;
    return kept === null ? null : keptAt(checkout, kept);
  }

  function specFor(iteration: number): IterationSpec {
    const sandboxed = rules.sandbox === 'none' ? ['--no-sandbox'] : [`--sandbox=${rules.sandbox}`];
    return {
      job,
      iteration,
      cwd: place,
      record,
      env: { ...env, ...passed },
      runId,
      sandbox: sandbox ?? noSandbox,
      ralph: {
        command: rules.ralph,
        words: [...sandboxed, ...rules.allowHosts.map((host) => `--allow-host=${host}`)],
      },
      stop,
      shows: (tail) => send({ type: 'shows', tail }),
      carries(state) {
        carried = { carried: state };
      },
    };
  }

  return {
    run,
    keep,
    async close(ended) {
      await sandbox?.stop();
      if (ended === null || checkout === null) return;
      if (job.options.run !== undefined) endRun(runOfJob(job, place), ended, systemClock.now());
      await keep('left at the end');
      // What `ralph run` wrote down is a part of the record.
      moveFolder(join(place, '.ralph', 'runs'), join(record.root, `runs-${job.id}`));
      await removeCheckout(checkout);
    },
  };
}

function failed(because: GaveUp, why: string): Failed {
  return { type: 'failed', because, why };
}

function keptAt({ repository }: Checkout, ref: string): string {
  return `${ref} of ${repository}`;
}

/** Tries again what could not be reached, with longer and longer pauses; the last answer counts. */
async function patiently<T>(stop: AbortSignal, act: () => Promise<T | { readonly again: T }>): Promise<T> {
  const until = systemClock.monotonic() + patienceMs;
  for (let pause = 500; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const result = await act();
    if (typeof result !== 'object' || result === null || !('again' in result)) return result;
    if (stop.aborted || systemClock.monotonic() + pause > until) return result.again;
    await systemClock.sleep(pause, stop);
  }
}
