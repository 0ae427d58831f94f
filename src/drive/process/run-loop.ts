import { dirname, isAbsolute, resolve } from 'node:path';
import { runPaths } from '../../config/paths.ts';
import { newLoop } from '../../core/decide.ts';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';
import type { Decision, LoopState } from '../../core/loop.ts';
import { failureOf, outcomeOfExit, outcomes } from '../../core/outcome.ts';
import type { EventBody } from '../../journal/events.ts';
import { addEvent } from '../../journal/fold-events.ts';
import { openJournal } from '../../journal/journal.ts';
import { elapsedAt } from '../../journal/run-view.ts';
import { runEnded } from '../../journal/turn-events.ts';
import type { Clock } from '../../os/clock.ts';
import { readText } from '../../os/files/files.ts';
import { realPath } from '../../os/files/real-path.ts';
import { findProgram } from '../../os/process/process.ts';
import { noSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { watchProgram } from './agent-program.ts';
import { agentMissing } from './agent-turn.ts';
import { runIteration } from './iteration.ts';
import type { Recorder } from './loop-kind.ts';
import { startNotices } from './notices.ts';
import type { RunEnd, RunParts, RunSpec } from './run-spec.ts';
import { watchFiles } from './watched-files.ts';

/** Longest sleep between two looks at the wall clock. */
const longestNap = 30_000;

/** Runs the agent again and again until `decide` says stop. Returns null if it yielded after one iteration. */
export async function runLoop(spec: RunSpec): Promise<RunEnd | null> {
  const paths = runPaths(spec.cwd, spec.run);
  // Before the first event, so that a run that can be resumed has its record.
  const { guardrails, verify, protectedPaths, protectChecks } = spec.settings;
  const commands = [...guardrails.map(({ command }) => command), ...verify];
  const watchedFiles = watchFiles(
    { cwd: spec.cwd, env: spec.env, commands, protectedPaths, protectChecks },
    { file: paths.protected, resumed: spec.resume !== undefined },
  );
  const journal = openJournal(paths.journal, () => spec.clock.now(), {
    root: spec.cwd,
    // Every text of an event passes here on its way to the disk and the screen.
    clean: (json) => spec.redactor.text(json),
  });
  const record: Recorder = (body) => {
    const event = journal.append(body);
    addEvent(spec.view, event);
    spec.observer.journal(event);
    notices.tell(event);
  };
  const notices = startNotices(spec, record);
  let sandbox = noSandbox;
  try {
    const loop = spec.resume ?? newLoop(spec.plan, readTask(spec), spec.firstIteration);
    record(startEvent(spec, loop));
    sandbox = await openSandbox(spec, record);
    const passed = new Set(spec.passed);
    const end = await runIterations(spec, loop, {
      journal,
      sandbox,
      record,
      watchedFiles,
      passed,
      refusals: [],
      cutSession: null,
    });
    // The question of an agent goes into a file for its human.
    return end && { ...end, because: { ...end.because, text: spec.redactor.text(end.because.text) } };
  } catch (thrown) {
    const error = withResume(thrown, spec);
    endByError(spec, record, error);
    throw error;
  } finally {
    spec.kind.close();
    await sandbox.stop();
    await notices.settled();
    journal.close();
  }
}

async function runIterations(spec: RunSpec, first: LoopState, parts: RunParts): Promise<RunEnd | null> {
  const { journal, record } = parts;
  // Only where the next turn may judge this one; other loops survive an update of the agent.
  const isOtherAgent = spec.kind.traced ? watchProgram(spec.agent) : () => false;
  for (let loop = first; ; ) {
    const task = readTask(spec);
    requireAgent(spec);
    if (isOtherAgent()) return endRun(spec, record, agentChanged(spec.agent));
    const result = await runIteration(spec, { ...loop, task }, parts);
    loop = result.loop;
    const next = await settle(spec, result.decision, record);
    if (next === 'go-on') continue;
    // The checks ran code of the agent's after its turn.
    journal.restore('whole');
    if (next !== 'yield') return endRun(spec, record, next);
    record({ type: 'run.yielded', iteration: result.ran });
    return null;
  }
}

async function openSandbox(spec: RunSpec, record: Recorder): Promise<Sandbox> {
  const opening = spec.openSandbox?.({
    denied: (host) => record({ type: 'sandbox.denied', ...host }),
    notice: (text) => record({ type: 'notice', text }),
  });
  if (opening === undefined) return noSandbox;
  const sandbox = await opening;
  const { provider, name } = sandbox;
  record({ type: 'sandbox.ready', provider, name });
  return sandbox;
}

type End = Pick<RunEnd, 'outcome' | 'because'>;

function endRun(
  spec: RunSpec,
  record: Recorder,
  { outcome, because }: End,
  // A finished task stays finished, but whoever sent the signal is told that it came first.
  exitCode: number = outcomes[spec.finish.aborted ? 'INTERRUPTED' : outcome].exitCode,
): RunEnd {
  record(runEnded({ outcome, because, exitCode }, spec.view, elapsedAt(spec.view, spec.clock.now())));
  return { outcome, exitCode, because };
}

/** Adds how to go on when there is space again: the run is as it was before this iteration. */
function withResume(error: unknown, { run, plan }: RunSpec): unknown {
  if (!isRalphError(error) || error.code !== 'disk-full') return error;
  const command = plan.completion.tasks === undefined ? `ralph run --resume ${run}` : 'ralph prd run';
  const remedy = `free some space (df -h shows where), then: ${command}`;
  const { code, message, exitCode } = error;
  return new RalphError(code, message, { remedy, exitCode, cause: error });
}

/** Ends a run that cannot go on, as far as that can still be written: the disk may be what failed. */
function endByError(spec: RunSpec, record: Recorder, error: unknown): void {
  const { code, exitCode } = failureOf(error);
  const because = { code, text: messageOf(error) };
  try {
    endRun(spec, record, { outcome: outcomeOfExit(exitCode), because }, exitCode);
  } catch {
    return;
  }
}

/** Throws if the agent's program is gone: it may be removed while the loop runs. */
function requireAgent({ agent, env, settings }: RunSpec): void {
  const { adapter, program } = agent;
  // A sandbox may bring an agent of its own, which is a name only.
  if (!isAbsolute(program) || findProgram(program, env) !== null) return;
  throw agentMissing(settings.agent.command ?? program, adapter);
}

function agentChanged({ program, adapter }: RunSpec['agent']): End {
  const text = `the agent's program ${program} was changed since the run began, and would judge the work now; if that was no update of yours, install it again (${adapter.install})`;
  return { outcome: 'BLOCKED', because: { code: 'agent-changed', text } };
}

/** Carries a decision out, waits included, and returns what follows from it. */
async function settle(spec: RunSpec, decision: Decision, record: Recorder): Promise<End | 'go-on' | 'yield'> {
  const done = decision.kind === 'stop' && decision.outcome === 'PROMISE_ACCEPTED';
  if (spec.finish.aborted && !done) return requestedEnd(spec.finish);
  if (decision.kind === 'stop') return decision;
  // A supervisor waits by itself before it starts the next process.
  if (decision.kind === 'wait' && !spec.oneIteration) await pause(spec.clock, decision.ms, spec.finish);
  if (spec.mailbox.isPaused()) await waitWhilePaused(spec, record);
  if (spec.finish.aborted) return requestedEnd(spec.finish);
  return spec.oneIteration ? 'yield' : 'go-on';
}

/** Waits until the person who paused the loop resumes or stops it. */
async function waitWhilePaused({ mailbox, finish }: RunSpec, record: Recorder): Promise<void> {
  record({ type: 'paused', because: 'paused by a person (ralph unpause)' });
  while (mailbox.isPaused() && !finish.aborted) await mailbox.waitForChange(finish);
  record({ type: 'unpaused' });
}

/** Sleeps by the wall clock, so that hours in which the machine slept count, or by the monotonic one if the wall clock is set back. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const until = clock.now() + ms;
  const latest = clock.monotonic() + ms;
  for (;;) {
    const left = Math.min(until - clock.now(), latest - clock.monotonic());
    if (left <= 0 || signal.aborted) return;
    await clock.sleep(Math.min(left, longestNap), signal);
  }
}

function requestedEnd({ reason }: AbortSignal): End {
  return reason === 'CANCELLED'
    ? { outcome: 'CANCELLED', because: { code: 'cancelled', text: 'stopped by ralph stop' } }
    : { outcome: 'INTERRUPTED', because: { code: 'interrupted', text: 'stopped by a signal' } };
}

/** Returns the task. Reads a prompt file again each time: people edit it while the loop runs. */
function readTask(spec: RunSpec): string {
  const { prompt } = spec;
  if ('text' in prompt) return prompt.text;
  const root = spec.openSandbox && folderOfProject(spec, prompt.file);
  const text = readText(prompt.file, root ? { root } : {});
  if (text !== null && text.trim() !== '') return text;
  throw new RalphError(
    'prompt-file',
    `the prompt file ${prompt.file} is ${text === null ? 'gone' : 'empty'}; nothing else is lost`,
    {
      remedy: `write your task to ${prompt.file}, then: ralph run --resume`,
    },
  );
}

/**
 * The folder above a file, by the path it was given with, that is the top of the working copy; null for a file elsewhere.
 * Below it an agent could put a link to a key in the place of its prompt, and would get the key.
 */
function folderOfProject({ cwd, workingCopy }: RunSpec, file: string): string | null {
  const top = workingCopy.root ?? realPath(cwd);
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (realPath(folder) === top) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function startEvent(spec: RunSpec, loop: LoopState): EventBody {
  const { run, cwd, cli, plan, agent } = spec;
  const { pid } = process;
  const output = agent.adapter.protocol ?? spec.settings.agent.output;
  const how = {
    agent: agent.adapter.name,
    ...(agent.version === null ? {} : { agentVersion: agent.version }),
    plan,
    cli,
    ...(output === undefined ? {} : { output }),
  };
  const branch = spec.workingCopy.branch();
  if (spec.resume) return { type: 'run.resumed', pid, iteration: loop.iteration, ...how };
  return {
    type: 'run.started',
    run,
    version: spec.version,
    pid,
    cwd,
    ...(branch === null ? {} : { branch }),
    command: agent.program,
    task: loop.task,
    ...how,
    ...('file' in spec.prompt ? { promptFile: spec.prompt.file } : {}),
  };
}
