import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { agentNameOf } from '../agents/registry.ts';
import type { LoopEnd } from '../fleet/files/loops.ts';
import { endRun } from '../fleet/supervised-run.ts';
import { systemClock } from '../os/clock.ts';
import { ensureDir, lstatOf, moveFolder } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { findProgram, sweepRun } from '../os/process/process.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { noSandbox } from '../sandbox/sandbox.ts';
import { type Checkout, openCheckout, removeCheckout } from './checkout.ts';
import {
  type IterationResult,
  type LoopSpec,
  type RunningLoop,
  runIteration,
  runOfJob,
  tell,
} from './iteration.ts';
import { keepWork } from './keep-work.ts';
import type { FromDriver } from './messages.ts';
import type { LoopJob } from './orders.ts';
import { placesIn, runIdOf } from './places.ts';
import { commitWork, pushWork } from './publish.ts';
import { agentOf } from './queues.ts';
import { faultOf, type Setback } from './setback.ts';

/** Time for retries of a push, while the work is here. */
const patienceMs = 2 * 60_000;
const longestPauseMs = 15_000;

type Ended = Extract<FromDriver, { type: 'ended' }>;

export async function openLoop(spec: LoopSpec): Promise<RunningLoop> {
  const { job, rules } = spec;
  const runId = runIdOf(rules.folder, job.name);
  ensureDir(placesIn(rules.folder).record(job.name).root);
  // A driver that died may have left its agent running.
  await sweepRun(runId);
  return { ...spec, runId, checkout: null, cwd: '', sandbox: noSandbox, isKept: false };
}

/** Runs one iteration and pushes its work, unless it is on the branch already. */
export async function runIn(loop: RunningLoop, iteration: number): Promise<Ended | Setback> {
  const { stop } = loop;
  const checkout = loop.checkout ?? (await checkOut(loop));
  if ('why' in checkout) return checkout;
  const commit = checkout.commits.find((one) => one.iteration === iteration);
  if (commit !== undefined) {
    return { type: 'ended', iteration, end: commit.end, head: checkout.start, wasOnBranch: true };
  }
  const result = stop.aborted ? null : await runIteration(loop, iteration);
  if (result === null) return { kind: 'stopped', why: '' };
  return faultOf(result.end) ?? deliver(loop, checkout, iteration, result);
}

async function checkOut(loop: RunningLoop): Promise<Checkout | Setback> {
  const { job, rules } = loop;
  const result = await openCheckout(placesIn(rules.folder), job);
  if ('why' in result) return result;
  const { checkout, keptRef } = result;
  loop.checkout = checkout;
  if (keptRef !== null) tell(loop, 'kept', `work of an earlier try is kept in ${keptAt(checkout, keptRef)}`);
  const cwd = realPath(join(checkout.path, job.cwd));
  if (!isWithin(cwd, realPath(checkout.path)) || !lstatOf(cwd)?.isDirectory()) {
    return { kind: 'impossible', why: `there is no folder ${job.cwd} in the repository` };
  }
  loop.cwd = cwd;
  if (isProgramMissing(loop)) {
    const [command = ''] = job.command;
    const why = `${command} is not installed on ${hostname()}`;
    return { kind: agentOf(job.command) === null ? 'missing' : 'agent', why };
  }
  if (job.options.run === undefined) await openSandboxOf(loop);
  return checkout;
}

/** True if this machine has no program for a loop. A container may have its own. */
function isProgramMissing({ env, job, rules, cwd }: RunningLoop): boolean {
  const [command = ''] = job.command;
  if (rules.sandbox !== 'none' && rules.sandbox !== 'bwrap') return false;
  return findProgram(command.includes('/') ? resolve(cwd, command) : command, env) === null;
}

async function openSandboxOf(loop: RunningLoop): Promise<void> {
  const { env, job, rules, cwd } = loop;
  const [command = ''] = job.command;
  const program = findProgram(command, env);
  loop.sandbox = await openSandbox(rules.sandbox, {
    cwd,
    env,
    agent: agentNameOf(command),
    ...(program === null ? {} : { program }),
    allowHosts: rules.allowHosts,
    variables: ['SWARM_WORKER', ...job.pass],
  });
}

async function deliver(
  loop: RunningLoop,
  from: Checkout,
  iteration: number,
  result: IterationResult,
): Promise<Ended | Setback> {
  const { job, stop } = loop;
  const message = { type: 'ended', iteration, wasOnBranch: false, ...result } as const;
  const { commit, keptRef, warnings } = await commitWork(from, job, iteration, result.end);
  for (const warning of warnings) tell(loop, 'notice', warning);
  if (keptRef !== null)
    tell(loop, 'kept', `what the agent had committed is kept in ${keptAt(from, keptRef)}`);
  if (commit === null) return { ...message, head: from.start };
  const { pushed, checkout } = await pushPatiently(from, job, commit, stop);
  loop.checkout = checkout;
  if (pushed.kind === 'pushed') return { ...message, head: commit };
  if (pushed.kind === 'fenced') {
    const now = pushed.remoteCommit === null ? 'gone' : `at ${pushed.remoteCommit.slice(0, 12)}`;
    tell(loop, 'fenced', `the push of iteration ${iteration} was refused: the branch is ${now}`);
    return { kind: 'fenced', why: 'another machine has moved the branch' };
  }
  const why = `the push failed: ${pushed.why}`;
  return { kind: pushed.kind === 'refused' ? 'impossible' : 'unprepared', why };
}

/** Keeps work that is not on the branch, once, and returns its place. Nothing runs after it. */
export async function keepRest(loop: RunningLoop, why: string): Promise<string | null> {
  const { checkout, job } = loop;
  if (checkout === null || loop.isKept) return null;
  const ref = await keepWork(checkout, job, why);
  loop.isKept = true;
  return ref === null ? null : keptAt(checkout, ref);
}

/** Closes the sandbox. If the loop has ended, ends its run and removes its worktree, too. */
export async function closeLoop(loop: RunningLoop, end: LoopEnd | null): Promise<void> {
  const { job, rules, checkout, cwd } = loop;
  await loop.sandbox.stop();
  if (end === null || checkout === null) return;
  if (job.options.run !== undefined) endRun(runOfJob(job, cwd), end, systemClock.now());
  await keepRest(loop, 'left at the end');
  // The journal of `ralph run` is a part of the record.
  moveFolder(
    join(cwd, '.ralph', 'runs'),
    join(placesIn(rules.folder).record(job.name).root, `runs-${job.id}`),
  );
  await removeCheckout(checkout);
}

function keptAt({ repository }: Checkout, ref: string): string {
  return `${ref} of ${repository}`;
}

/** Pushes; tries again with growing pauses while the remote cannot be reached. */
async function pushPatiently(from: Checkout, job: LoopJob, commit: string, stop: AbortSignal) {
  const until = systemClock.monotonic() + patienceMs;
  for (let pause = 500; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const result = await pushWork(from, job, commit);
    const isLast = stop.aborted || systemClock.monotonic() + pause > until;
    if (result.pushed.kind !== 'unreachable' || isLast) return result;
    await systemClock.sleep(pause, stop);
  }
}
