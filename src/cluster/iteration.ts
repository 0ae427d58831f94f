import { agentNameOf } from '../agents/registry.ts';
import { compilePattern, type Pattern } from '../core/pattern.ts';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import { readIteration } from '../fleet/run-iteration.ts';
import { limitAtExit } from '../fleet/screen/classify.ts';
import { checkDone } from '../fleet/screen/done.ts';
import { runCommand, runEnvironment, type SupervisedRun } from '../fleet/supervised-run.ts';
import { skippedText } from '../journal/run-view.ts';
import { runIdFor } from '../journal/runs.ts';
import { systemClock } from '../os/clock.ts';
import { writeAtomic } from '../os/files/files.ts';
import { exitCodeOf } from '../os/process/exit-code.ts';
import { type Argv, type Environment, startProcess } from '../os/process/process.ts';
import { createRedactor } from '../os/redact/redact.ts';
import { noSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { inSandbox } from '../sandbox/start.ts';
import type { LoopJob } from './orders.ts';
import { openOutput } from './output.ts';
import type { Places } from './places.ts';
import { packRun, unpackRun } from './run-state.ts';

/** Everything that an iteration needs from its machine. */
export type IterationSpec = {
  readonly job: LoopJob;
  readonly iteration: number;
  readonly cwd: string;
  readonly record: ReturnType<Places['record']>;
  /** Environment of the machine without the store's address and password. */
  readonly env: Environment;
  readonly runId: string;
  /** Sandbox of a plain command; `ralph run` opens its own. */
  readonly sandbox: Sandbox;
  /** Command of `ralph` on this machine, and its options for the sandbox. */
  readonly ralph: { readonly command: readonly string[]; readonly words: readonly string[] };
  readonly stop: AbortSignal;
  /** Reports the end of the output. */
  shows(tail: string): void;
  /** Reports something that a person may want to know. */
  notices(text: string): void;
};

const lookMs = 500;

/** End of an iteration, and the run state that another machine needs to go on. */
export type IterationResult = { readonly end: TurnEnd; readonly runState?: string };

/** Runs one iteration to its end; null if it was stopped from outside. */
export async function runIteration(spec: IterationSpec): Promise<IterationResult | null> {
  writeAtomic(spec.record.prompt, spec.job.prompt, { fsync: false });
  if (spec.job.options.run !== undefined) return runSupervised(spec);
  const end = await runPlain(spec);
  return end === null ? null : { end };
}

async function runPlain(spec: IterationSpec): Promise<TurnEnd | null> {
  const { job, sandbox } = spec;
  const { settings, command } = job;
  const [program = '', ...words] = command;
  const pattern = settings.done_pattern === null ? null : compilePattern(settings.done_pattern);
  const ran = await runProcess(spec, {
    argv: forAgent(job.env, [program, ...words]),
    env: variablesOf(spec),
    sandbox,
    stdin: job.prompt,
    idleMs: settings.inactivity_timeout * 1000,
    pattern,
  });
  if (ran.cause === 'stopped') return null;
  if (ran.matched === 'while-running') return { how: 'done', exitCode: null, doneMatched: true };
  const doneMatched = ran.matched === 'at-end';
  if (ran.cause === 'idle') return { how: 'inactive', exitCode: null, doneMatched };
  const agent = agentNameOf(program);
  const limit =
    ran.exitCode === 0 || agent === 'custom' || doneMatched
      ? null
      : limitAtExit(agent, ran.lines, systemClock.now());
  if (limit === null) return { how: 'exited', exitCode: ran.exitCode, doneMatched };
  const until = limit.until === undefined ? {} : { limitUntil: limit.until };
  return { how: 'limited', exitCode: ran.exitCode, doneMatched: false, ...until };
}

/** Returns the run that all iterations of a loop belong to: the same on every machine. */
export function runOfJob({ name, id }: LoopJob, cwd: string): SupervisedRun {
  return { cwd, id: runIdFor(name, Number(id)) };
}

/** Runs one iteration of `ralph run`, which goes on with the run from the machine before. */
async function runSupervised(spec: IterationSpec): Promise<IterationResult | null> {
  const { job, record, cwd, iteration, ralph } = spec;
  const { command } = job;
  const run = runOfJob(job, cwd);
  const here = { promptFile: record.prompt, task: job.prompt };
  const before = unpackRun(run, job.runState ?? '', iteration, here).view;
  const since = before.seq;
  const startedAt = systemClock.now();
  const words = [...withoutSandbox(job.options.run ?? []), ...ralph.words];
  const [program = '', ...rest] = runCommand(run, command, {
    settings: { ...job.settings, prompt_file: record.prompt },
    options: { engine: ralph.command, run: words },
    iteration,
    runSeq: since,
  });
  const ran = await runProcess(spec, {
    argv: [program, ...rest],
    env: { ...variablesOf(spec), ...agentVariables(job), ...runEnvironment(command) },
    sandbox: noSandbox,
    stdin: null,
    idleMs: null,
    pattern: null,
  });
  if (ran.cause === 'stopped') return null;
  const { env } = spec;
  const { exitCode } = ran;
  const at = systemClock.now();
  const process = { env, iteration, startedAt, since, at, how: 'exited', exitCode } as const;
  const { end: iterationEnd, run: after } = readIteration(run, process);
  const { at: _at, ...end } = iterationEnd;
  const skipped = skippedText(after.view);
  if (skipped !== null && skipped !== skippedText(before)) spec.notices(skipped);
  const runState = packRun(run, after);
  return runState === null ? { end } : { end, runState };
}

type Ran = {
  readonly exitCode: number | null;
  readonly cause: string;
  /** Time at which the done pattern matched. */
  readonly matched: 'while-running' | 'at-end' | null;
  readonly lines: readonly string[];
};

type ProgramSpec = {
  readonly argv: Argv;
  readonly env: Environment;
  readonly sandbox: Sandbox;
  readonly stdin: string | null;
  readonly idleMs: number | null;
  readonly pattern: Pattern | null;
};

async function runProcess(spec: IterationSpec, how: ProgramSpec): Promise<Ran> {
  const { job, iteration, cwd } = spec;
  const output = openOutput(spec.record.log(iteration), createRedactor(how.env));
  const isDone = () => how.pattern !== null && checkDone(how.pattern, output.lines(), job.prompt, false).done;
  await how.sandbox.freshHome({ keepSessions: true });
  const inside = inSandbox(how.sandbox, how.argv, { env: how.env, cwd, stdin: how.stdin });
  const running = startProcess({
    ...inside,
    cwd,
    runId: spec.runId,
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
  spec.stop.addEventListener('abort', stop, { once: true });
  if (spec.stop.aborted) stop();
  let endedAtMatch = false;
  const looking = setInterval(() => {
    if (!output.takeChange()) return;
    spec.shows(output.tail());
    if (!job.options.checkDoneContinuous || endedAtMatch || !isDone()) return;
    endedAtMatch = true;
    running.finish();
  }, lookMs);
  try {
    const end = await running.done;
    await how.sandbox.settle();
    output.end();
    const failure = end.cause === 'exited' ? inside.failure?.(end.exitCode, output.tail()) : null;
    const problem = failure ?? end.error;
    if (problem) output.add(`${problem.message}\n`);
    spec.shows(output.tail());
    const matched = endedAtMatch ? 'while-running' : isDone() ? 'at-end' : null;
    return { exitCode: exitCodeOf(end), cause: end.cause, matched, lines: output.lines() };
  } finally {
    clearInterval(looking);
    spec.stop.removeEventListener('abort', stop);
    output.close();
  }
}

function variablesOf({ env, job }: IterationSpec): Environment {
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

/** Removes sandbox options: the machine decides on its sandbox. */
function withoutSandbox(words: readonly string[]): string[] {
  return words.filter((word) => !/^--(?:no-)?sandbox(?:=|$)/.test(word));
}
