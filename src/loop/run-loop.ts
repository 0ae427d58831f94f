import { dirname, resolve } from 'node:path';
import { newLoop } from '../core/decide.ts';
import { isRalphError, messageOf, RalphError } from '../core/error.ts';
import type { Decision, LoopState, Reason } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import { noSandbox, type Sandbox } from '../safety/sandbox/sandbox.ts';
import type { EventBody } from '../store/events.ts';
import { openJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { runEnded } from '../store/turn-events.ts';
import type { Clock } from '../system/clock.ts';
import { readText } from '../system/files.ts';
import { realPath } from '../system/real-path.ts';
import { runIteration } from './iteration.ts';
import type { Recorder } from './loop-kind.ts';
import { startNotices } from './notices.ts';
import { protectFiles } from './protected.ts';
import type { RunEnd, RunParts, RunSpec } from './run-spec.ts';

/** Between two looks at the clock on the wall. */
const longestNap = 30_000;

/** The outer loop: runs the agent again and again until `decide` says stop. Null if it yielded after one iteration. */
export async function runLoop(spec: RunSpec): Promise<RunEnd | null> {
  const paths = runPaths(spec.cwd, spec.run);
  // Before the first event, so that a run that can be resumed has its record.
  const protectedFiles = protectFiles(spec.cwd, spec.settings.protectedPaths, {
    folder: paths.root,
    file: paths.protected,
    resumed: spec.resume !== undefined,
  });
  const journal = openJournal(paths.journal, () => spec.clock.now(), {
    root: spec.cwd,
    // Every text of an event passes here on its way to the disk and the screen.
    clean: (json) => spec.redactor.text(json),
  });
  const record: Recorder = (body) => {
    const event = journal.append(body);
    spec.observer.journal(event);
    notices.tell(event);
  };
  const notices = startNotices(spec, record);
  let sandbox = noSandbox;
  try {
    const started = spec.clock.monotonic();
    let loop = spec.resume ?? newLoop(spec.plan, readTask(spec), spec.firstIteration);
    record(startEvent(spec, loop));
    sandbox = await openSandbox(spec, record);
    const parts: RunParts = {
      journal,
      sandbox,
      record,
      protectedFiles,
      passed: new Set(spec.passed),
      cutSession: null,
    };
    for (;;) {
      loop = { ...loop, task: readTask(spec) };
      const { ran, decision, loop: decided } = await runIteration(spec, loop, parts);
      loop = decided;
      const next = await settle(spec, decision, record);
      if (next === 'go-on') continue;
      // The checks ran code of the agent's after its turn.
      journal.restore('whole');
      if (next === 'yield') {
        record({ type: 'run.yielded', iteration: ran });
        return null;
      }
      const { outcome, because } = next;
      // A finished task stays finished, but whoever sent the signal is told that it came first.
      const exitCode = spec.finish.aborted ? outcomes.INTERRUPTED.exitCode : outcomes[outcome].exitCode;
      const ms = spec.clock.monotonic() - started;
      record(runEnded({ outcome, because, exitCode }, { iteration: ran, usage: loop.usage }, ms));
      return { outcome, exitCode, because };
    }
  } catch (error) {
    recordFailure(record, error);
    throw error;
  } finally {
    spec.kind.close();
    await sandbox.stop();
    await notices.settled();
    journal.close();
  }
}

async function openSandbox(spec: RunSpec, record: Recorder): Promise<Sandbox> {
  const opening = spec.openSandbox?.((host) => record({ type: 'sandbox.denied', ...host }));
  if (opening === undefined) return noSandbox;
  const sandbox = await opening;
  const { provider, name } = sandbox;
  record({ type: 'sandbox.ready', provider, name });
  return sandbox;
}

/** As far as it can still be written: the disk may be what failed. */
function recordFailure(record: Recorder, error: unknown): void {
  const code = isRalphError(error) ? error.code : 'internal';
  try {
    record({ type: 'run.failed', code, message: messageOf(error) });
  } catch {
    return;
  }
}

type End = { readonly outcome: Outcome; readonly because: Reason };

/** What follows from a decision; where the loop waits, once the wait is over. */
async function settle(spec: RunSpec, decision: Decision, record: Recorder): Promise<End | 'go-on' | 'yield'> {
  const done = decision.kind === 'stop' && decision.outcome === 'PROMISE_ACCEPTED';
  if (spec.finish.aborted && !done) return asked(spec.finish);
  if (decision.kind === 'stop') return decision;
  if (spec.oneIteration) return 'yield';
  if (decision.kind === 'wait') await pause(spec.clock, decision.ms, spec.finish);
  if (spec.isPaused()) await holdOn(spec, record);
  return spec.finish.aborted ? asked(spec.finish) : 'go-on';
}

/** Until the person who paused the loop lets it go on, or ends it. */
async function holdOn(spec: RunSpec, record: Recorder): Promise<void> {
  record({ type: 'paused', because: 'paused by a person (ralph unpause)' });
  while (spec.isPaused() && !spec.finish.aborted) await spec.waitForMail(spec.finish);
  record({ type: 'unpaused' });
}

/** By the clock on the wall, so that hours in which the machine slept count; by the other one, should that clock be set back. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const until = clock.now() + ms;
  const latest = clock.monotonic() + ms;
  for (;;) {
    const left = Math.min(until - clock.now(), latest - clock.monotonic());
    if (left <= 0 || signal.aborted) return;
    await clock.sleep(Math.min(left, longestNap), signal);
  }
}

function asked({ reason }: AbortSignal): End {
  return reason === 'CANCELLED'
    ? { outcome: 'CANCELLED', because: { code: 'cancelled', text: 'stopped by ralph stop' } }
    : { outcome: 'INTERRUPTED', because: { code: 'interrupted', text: 'stopped by a signal' } };
}

/** A prompt file is read again each time: people edit it while the loop runs. */
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
function folderOfProject({ cwd, workspace }: RunSpec, file: string): string | null {
  const top = workspace.root ?? realPath(cwd);
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (realPath(folder) === top) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function startEvent(spec: RunSpec, loop: LoopState): EventBody {
  const { run, cwd, cli, plan, agent } = spec;
  const { pid } = process;
  const { output } = spec.settings.agent;
  const how = {
    agent: agent.adapter.name,
    ...(agent.version === null ? {} : { agentVersion: agent.version }),
    plan,
    cli,
    ...(output === undefined ? {} : { output }),
  };
  if (spec.resume) return { type: 'run.resumed', pid, iteration: loop.iteration, ...how };
  return {
    type: 'run.started',
    run,
    version: spec.version,
    pid,
    cwd,
    command: agent.program,
    task: loop.task,
    ...how,
    ...('file' in spec.prompt ? { promptFile: spec.prompt.file } : {}),
  };
}
