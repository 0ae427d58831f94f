import { agentNameOf } from '../agents/registry.ts';
import { compilePattern } from '../core/pattern.ts';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import { readIteration } from '../fleet/run-iteration.ts';
import { limitAtExit } from '../fleet/screen/classify.ts';
import { type DoneLook, doneLook } from '../fleet/screen/done.ts';
import { runCommand, runEnvironment, type SupervisedRun } from '../fleet/supervised-run.ts';
import { skippedText } from '../journal/run-view.ts';
import { runIdFor } from '../journal/runs.ts';
import { systemClock } from '../os/clock.ts';
import { writeAtomic } from '../os/files/files.ts';
import { exitCodeOf } from '../os/process/exit-code.ts';
import { type Argv, type Environment, startProcess } from '../os/process/process.ts';
import { createRedactor } from '../os/redact/redact.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { inSandbox } from '../sandbox/start.ts';
import type { Checkout } from './checkout.ts';
import type { FromDriver, MachineRules } from './messages.ts';
import type { LoopJob } from './orders.ts';
import { openOutput } from './output.ts';
import { placesIn } from './places.ts';
import { packRun, unpackRun } from './run-state.ts';

export type LoopSpec = {
  /** Environment of the machine without the store's address and password. */
  readonly env: Environment;
  readonly job: LoopJob;
  readonly rules: MachineRules;
  readonly stop: AbortSignal;
  send(message: FromDriver): void;
};

/** A loop in its worktree on this machine. */
export type RunningLoop = LoopSpec & {
  readonly runId: string;
  checkout: Checkout | null;
  /** The folder in the worktree where the command runs. */
  cwd: string;
  /** Sandbox of a plain command; `ralph run` opens its own. */
  sandbox: Sandbox;
  isKept: boolean;
};

const lookMs = 500;

/** End of an iteration, and the run state that another machine needs to go on. */
export type IterationResult = { readonly end: TurnEnd; readonly runState?: string };

/** Runs one iteration to its end; null if it was stopped from outside. */
export async function runIteration(loop: RunningLoop, iteration: number): Promise<IterationResult | null> {
  writeAtomic(recordOf(loop).prompt, loop.job.prompt, { fsync: false });
  if (loop.job.options.run !== undefined) return runSupervised(loop, iteration);
  const end = await runPlain(loop, iteration);
  return end === null ? null : { end };
}

/** Tells people about a loop. */
export function tell({ send }: RunningLoop, type: 'fenced' | 'kept' | 'notice', text: string): void {
  send({ type: 'tells', event: { at: systemClock.now(), type, text } });
}

function recordOf({ job, rules }: RunningLoop) {
  return placesIn(rules.folder).record(job.name);
}

async function runPlain(loop: RunningLoop, iteration: number): Promise<TurnEnd | null> {
  const { job } = loop;
  const { settings, command } = job;
  const [program = '', ...words] = command;
  const { done_pattern: pattern } = settings;
  const result = await runProcess(loop, iteration, {
    argv: forAgent(job.env, [program, ...words]),
    env: variablesOf(loop),
    stdin: job.prompt,
    idleMs: settings.inactivity_timeout * 1000,
    lookIfDone: pattern === null ? null : doneLook(compilePattern(pattern), job.prompt),
  });
  if (result.cause === 'stopped') return null;
  if (result.matched === 'while-running') return { how: 'done', exitCode: null, doneMatched: true };
  const doneMatched = result.matched === 'at-end';
  if (result.cause === 'idle') return { how: 'inactive', exitCode: null, doneMatched };
  const agent = agentNameOf(program);
  const limit =
    result.exitCode === 0 || agent === 'custom' || doneMatched
      ? null
      : limitAtExit(agent, result.lines, systemClock.now());
  if (limit === null) return { how: 'exited', exitCode: result.exitCode, doneMatched };
  const until = limit.until === undefined ? {} : { limitUntil: limit.until };
  return { how: 'limited', exitCode: result.exitCode, doneMatched: false, ...until };
}

/** Returns the run that all iterations of a loop belong to: the same on every machine. */
export function runOfJob({ name, id }: LoopJob, cwd: string): SupervisedRun {
  return { cwd, id: runIdFor(name, Number(id)) };
}

/** Runs one iteration of `ralph run`, which goes on with the run from the machine before. */
async function runSupervised(loop: RunningLoop, iteration: number): Promise<IterationResult | null> {
  const { env, job, rules } = loop;
  const { command } = job;
  const run = runOfJob(job, loop.cwd);
  const { prompt } = recordOf(loop);
  const here = { promptFile: prompt, task: job.prompt };
  const before = unpackRun(run, job.runState ?? '', iteration, here).view;
  const since = before.seq;
  const startedAt = systemClock.now();
  // The machine decides on its sandbox, not the submitter.
  const runWords = (job.options.run ?? []).filter((word) => !/^--(?:no-)?sandbox(?:=|$)/.test(word));
  const sandbox = rules.sandbox === 'none' ? '--no-sandbox' : `--sandbox=${rules.sandbox}`;
  const hosts = rules.allowHosts.map((host) => `--allow-host=${host}`);
  const [program = '', ...words] = runCommand(run, command, {
    settings: { ...job.settings, prompt_file: prompt },
    options: { engine: rules.ralph, run: [...runWords, sandbox, ...hosts] },
    iteration,
    runSeq: since,
  });
  const { cause, exitCode } = await runProcess(loop, iteration, {
    argv: [program, ...words],
    env: { ...variablesOf(loop), ...agentVariables(job), ...runEnvironment(command) },
    stdin: null,
    idleMs: null,
    lookIfDone: null,
  });
  if (cause === 'stopped') return null;
  const at = systemClock.now();
  const process = { env, iteration, startedAt, since, at, how: 'exited', exitCode } as const;
  const { end: iterationEnd, run: after } = readIteration(run, process);
  const { at: _at, ...end } = iterationEnd;
  const skipped = skippedText(after.view);
  if (skipped !== null && skipped !== skippedText(before)) tell(loop, 'notice', skipped);
  const runState = packRun(run, after);
  return runState === null ? { end } : { end, runState };
}

type ProgramResult = {
  readonly exitCode: number | null;
  readonly cause: string;
  /** Time at which the done pattern matched. */
  readonly matched: 'while-running' | 'at-end' | null;
  readonly lines: readonly string[];
};

type ProgramSpec = {
  readonly argv: Argv;
  readonly env: Environment;
  readonly stdin: string | null;
  readonly idleMs: number | null;
  readonly lookIfDone: DoneLook | null;
};

async function runProcess(loop: RunningLoop, iteration: number, how: ProgramSpec): Promise<ProgramResult> {
  const { job, cwd, runId, sandbox } = loop;
  const output = openOutput(recordOf(loop).log(iteration), createRedactor(how.env));
  const show = () => loop.send({ type: 'shows', tail: output.tail() });
  const isDone = () => how.lookIfDone?.(output.lines()).done === true;
  await sandbox.freshHome({ keepSessions: true });
  const inside = inSandbox(sandbox, how.argv, { env: how.env, cwd, stdin: how.stdin });
  const running = startProcess({
    ...inside,
    cwd,
    runId,
    iteration,
    idleMs: how.idleMs,
    hardMs: null,
    onStdout(chunk) {
      running.touch();
      output.stdout.push(chunk);
    },
    onStderr(chunk) {
      running.touch();
      output.stderr.push(Buffer.from(inside.withoutMarker(chunk.toString('latin1')), 'latin1'));
    },
  });
  const stop = () => running.stop();
  loop.stop.addEventListener('abort', stop, { once: true });
  if (loop.stop.aborted) stop();
  let endedAtMatch = false;
  const looking = setInterval(() => {
    if (!output.takeChange()) return;
    show();
    if (!job.options.checkDoneContinuous || endedAtMatch || !isDone()) return;
    endedAtMatch = true;
    running.finish();
  }, lookMs);
  try {
    const end = await running.done;
    await sandbox.settle();
    output.end();
    const failure = end.cause === 'exited' ? inside.failure?.(end.exitCode, output.tail()) : null;
    const problem = failure ?? end.error;
    if (problem) output.add(`${problem.message}\n`);
    show();
    const matched = endedAtMatch ? 'while-running' : isDone() ? 'at-end' : null;
    return { exitCode: exitCodeOf(end), cause: end.cause, matched, lines: output.lines() };
  } finally {
    clearInterval(looking);
    loop.stop.removeEventListener('abort', stop);
    output.close();
  }
}

function variablesOf({ env, job }: RunningLoop): Environment {
  return { ...env, SWARM_WORKER: job.name };
}

/** Returns a command that gets the variables of a submitter inside the sandbox; no program outside of it sees them. */
function forAgent(variables: LoopJob['env'], argv: Argv): Argv {
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return words.length === 0 ? argv : ['env', ...words, ...argv];
}

/** Settings that pass variables to the agent alone: `ralph run` has no options for them. */
function agentVariables({ env, pass }: LoopJob): Environment {
  return {
    ...(Object.keys(env).length === 0 ? {} : { RALPH_AGENT_ENV: JSON.stringify(env) }),
    ...(pass.length === 0 ? {} : { RALPH_SANDBOX_ENV: JSON.stringify(pass) }),
  };
}
