import { StringDecoder } from 'node:string_decoder';
import { agentNameOf } from '../agents/registry.ts';
import { compilePattern, type Pattern } from '../core/pattern.ts';
import type { SealedEnd } from '../fleet/iteration-end.ts';
import { readIteration } from '../fleet/run-iteration.ts';
import { limitAtExit } from '../fleet/screen/classify.ts';
import { checkDone } from '../fleet/screen/done.ts';
import { runCommand, runEnvironment, type SupervisedRun } from '../fleet/supervised-run.ts';
import { createRedactor } from '../safety/redact.ts';
import { noSandbox, type Sandbox } from '../safety/sandbox/sandbox.ts';
import { inSandbox } from '../safety/sandbox/start.ts';
import { createTerminalCleaner } from '../safety/terminal.ts';
import { readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { runIdFor } from '../store/runs.ts';
import { keepEarlierLog, openStreamLog } from '../store/stream-log.ts';
import { systemClock } from '../system/clock.ts';
import { exitCodeOf } from '../system/exit-code.ts';
import { writeAtomic } from '../system/files.ts';
import { type Argv, type Environment, startProcess } from '../system/process.ts';
import { packRun, unpackRun } from './carried.ts';
import type { LoopJob } from './job.ts';
import type { Places } from './places.ts';

/** All that an iteration needs of the machine it runs on. */
export type IterationSpec = {
  readonly job: LoopJob;
  readonly iteration: number;
  readonly cwd: string;
  readonly record: ReturnType<Places['record']>;
  /** Of the machine, without what is none of the agent's business. */
  readonly env: Environment;
  readonly runId: string;
  /** For a plain command; `ralph run` opens its own. */
  readonly sandbox: Sandbox;
  /** How `ralph run` is called, and its words about the sandbox. */
  readonly ralph: { readonly command: readonly string[]; readonly words: readonly string[] };
  readonly stop: AbortSignal;
  /** The end of what was printed so far. */
  shows(tail: string): void;
  /** What another machine needs to go on after this iteration. */
  carries(state: string): void;
};

const tailChars = 64 * 1024;
const tailLines = 2000;
const lookMs = 500;

/** Runs one iteration to its end; null where it was stopped from outside. */
export async function runIteration(spec: IterationSpec): Promise<SealedEnd | null> {
  writeAtomic(spec.record.prompt, spec.job.prompt, { fsync: false });
  return spec.job.options.run === undefined ? runPlain(spec) : runEngine(spec);
}

async function runPlain(spec: IterationSpec): Promise<SealedEnd | null> {
  const { job, sandbox } = spec;
  const { settings, command } = job;
  const [program = '', ...words] = command;
  const pattern = settings.done_pattern === null ? null : compilePattern(settings.done_pattern);
  const ran = await runProcess(spec, {
    argv: [program, ...words],
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

/** The run of `ralph run` that the iterations of a known agent are: the same on every machine. */
export function runOfJob({ name, id }: LoopJob, cwd: string): SupervisedRun {
  return { cwd, id: runIdFor(name, Number(id)) };
}

/** One iteration of `ralph run`, which goes on with the run wherever that was before. */
async function runEngine(spec: IterationSpec): Promise<SealedEnd | null> {
  const { job, record, cwd, iteration, ralph } = spec;
  const { command } = job;
  const run = runOfJob(job, cwd);
  unpackRun(run, job.carried ?? '', iteration, { promptFile: record.prompt, task: job.prompt });
  const since = readJournal(runPaths(cwd, run.id).journal).seq;
  const startedAt = systemClock.now();
  const words = [...withoutSandbox(job.options.run ?? []), ...ralph.words];
  const [program = '', ...rest] = runCommand(run, command, {
    settings: { ...job.settings, prompt_file: record.prompt },
    options: { engine: ralph.command, run: words },
    iteration,
  });
  const ran = await runProcess(spec, {
    argv: [program, ...rest],
    env: { ...variablesOf(spec), ...sandboxVariables(job), ...runEnvironment(command) },
    sandbox: noSandbox,
    stdin: null,
    idleMs: null,
    pattern: null,
  });
  if (ran.cause === 'stopped') return null;
  const { exitCode, lines } = ran;
  const at = systemClock.now();
  const process = { iteration, startedAt, since, at, how: 'exited', exitCode, output: () => lines } as const;
  const { at: _at, ...end } = (await readIteration(run, process)).end;
  const state = packRun(run);
  if (state !== null) spec.carries(state);
  return end;
}

type Ran = {
  readonly exitCode: number | null;
  readonly cause: string;
  /** When the done pattern was seen. */
  readonly matched: 'while-running' | 'at-end' | null;
  readonly lines: readonly string[];
};

async function runProcess(
  spec: IterationSpec,
  how: {
    readonly argv: Argv;
    readonly env: Environment;
    readonly sandbox: Sandbox;
    readonly stdin: string | null;
    readonly idleMs: number | null;
    readonly pattern: Pattern | null;
  },
): Promise<Ran> {
  const { job, iteration, cwd, record } = spec;
  const path = record.log(iteration);
  keepEarlierLog(path);
  const log = openStreamLog(path);
  const redactor = createRedactor(how.env);
  let tail = '';
  let changed = false;
  let endedAtMatch = false;
  const pipe = () => {
    const [redact, decoder, cleaner] = [
      redactor.stream(),
      new StringDecoder('utf8'),
      createTerminalCleaner(),
    ];
    const take = (bytes: Buffer) => {
      log.write(bytes);
      tail = (tail + cleaner.push(decoder.write(bytes))).slice(-tailChars);
      changed = true;
    };
    return { push: (chunk: Buffer) => take(redact.push(chunk)), end: () => take(redact.end()) };
  };
  const [out, err] = [pipe(), pipe()];
  const lines = () => tail.split('\n').slice(-tailLines);
  const isDone = () => how.pattern !== null && checkDone(how.pattern, lines(), job.prompt, false).done;

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
      out.push(chunk);
    },
    onStderr(chunk) {
      running.touch();
      err.push(Buffer.from(inside.withoutMarker(chunk.toString('latin1')), 'latin1'));
    },
  });
  const stop = () => running.stop();
  spec.stop.addEventListener('abort', stop, { once: true });
  if (spec.stop.aborted) stop();
  const looking = setInterval(() => {
    if (!changed) return;
    changed = false;
    spec.shows(tail);
    if (job.options.checkDoneContinuous && !endedAtMatch && isDone()) {
      endedAtMatch = true;
      running.finish();
    }
  }, lookMs);
  try {
    const end = await running.done;
    await how.sandbox.settle();
    out.end();
    err.end();
    const failure = end.cause === 'exited' ? inside.failure?.(end.exitCode, tail) : null;
    const problem = failure ?? end.error;
    if (problem) {
      log.write(`${problem.message}\n`);
      tail += `${problem.message}\n`;
    }
    spec.shows(tail);
    const matched = endedAtMatch ? 'while-running' : isDone() ? 'at-end' : null;
    return { exitCode: exitCodeOf(end), cause: end.cause, matched, lines: lines() };
  } finally {
    clearInterval(looking);
    spec.stop.removeEventListener('abort', stop);
    log.close();
  }
}

function variablesOf({ env, job }: IterationSpec): Environment {
  return { ...env, ...job.env, SWARM_WORKER: job.name };
}

/** By a setting, as `ralph run` has no word for it. */
function sandboxVariables({ env, pass }: LoopJob): Environment {
  const names = [...Object.keys(env), ...pass];
  return names.length === 0 ? {} : { RALPH_SANDBOX_ENV: JSON.stringify(names) };
}

/** The sandbox is the machine's to decide. */
function withoutSandbox(words: readonly string[]): string[] {
  return words.filter((word) => !/^--(?:no-)?sandbox(?:=|$)/.test(word));
}
