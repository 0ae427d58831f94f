import { relative } from 'node:path';
import { localFile, projectFile } from '../../config/settings-layers.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import { isSandboxed } from '../../config/settings-schema.ts';
import { guardFile } from '../../config/trust/powers.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import { otherExits } from '../../core/outcome.ts';
import { keepQuestion, readAnswer } from '../../drive/human.ts';
import { openMailbox, postRefusal } from '../../drive/mailbox.ts';
import { ownWorkingCopy } from '../../drive/process/ownership.ts';
import { runLoop } from '../../drive/process/run-loop.ts';
import type { RunAgent, RunEnd, RunSpec } from '../../drive/process/run-spec.ts';
import { openWorkingCopy, type WorkingCopy } from '../../drive/process/working-copy.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { nextCommand, shellWord } from '../../journal/next-command.ts';
import { skippedText } from '../../journal/run-view.ts';
import { readRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { randomHex } from '../../os/crypto.ts';
import { snapshotFiles } from '../../os/files/file-snapshot.ts';
import { findRepository } from '../../os/git/git.ts';
import { endCommandsOn } from '../../os/process/process.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { clearAbandoned } from '../../sandbox/stand-ins.ts';
import { createRunOutput, type RunOutput } from '../../show/terminal/run-output.ts';
import { terminalOf } from '../kernel/output.ts';
import { listenForSignals } from '../kernel/signals.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { runOptions } from './options.ts';
import { type PreparedRun, prepareRun, type RunWishes } from './prepare-run.ts';
import { sandboxSpec } from './sandbox-spec.ts';

export async function main(context: Context, input: Input<typeof runOptions>): Promise<number> {
  // Every user can read a command line while the run lasts, and this one holds the task. Not tried on macOS.
  if (input.values.prompt !== undefined && process.platform === 'linux') process.title = 'ralph run';
  try {
    return await startRun(context, input);
  } catch (error) {
    const { 'one-iteration': number, 'run-id': id, resume = '' } = input.values;
    const run = id ?? resume;
    if (number !== undefined && run !== '') postRefusal(context.env, run, error);
    throw error;
  }
}

/** Turns a plain run into another kind of loop. */
export type RunKind = RunWishes & {
  /** Folder of the question for a human, if not `.ralph`. */
  readonly questions?: string;
  shape?(prepared: PreparedRun, root: string | null): PreparedRun;
  /** Gets the events of the run, besides the view. */
  observe?(redactor: Redactor, run: string): Pick<RunSpec['observer'], 'journal' | 'agent'>;
  /** Returns lines to print after its end. */
  closing?(): readonly string[];
  /** Folder where the command was typed, if not that of the run. */
  readonly typedIn?: string;
  /** False if nobody can do anything about the run after its end. */
  readonly hasNext?: false;
};

/** Runs a loop to its end. */
export async function startRun(context: Context, input: Input<typeof runOptions>, kind: RunKind = {}) {
  clearAbandoned(context.env);
  const open = workingCopyOpener(context.cwd);
  const plain = await prepareRun(context, input.values, kind, open);
  const prepared = kind.shape?.(plain, findRepository(context.cwd)) ?? plain;
  const redactor = settingsRedactor(prepared.settings, context.env);
  if (input.values['dry-run'] !== undefined)
    return showDryRun(context, prepared, redactor, input.values['dry-run']);
  const view = openView(context, input, prepared, redactor);
  const workingCopy = await open(prepared.settings);
  const owned = await ownWorkingCopy(context.cwd, workingCopy.root, prepared.run, systemClock);
  const telemetry = await openTelemetry(context, view);
  const signals = listenForSignals(view);
  endCommandsOn(signals.stop);
  const mailbox = openMailbox(context.env, prepared.run, (how) => signals.ask(how));
  try {
    warnOfEarlier(view, prepared, owned.abandoned);
    const answer = readAnswer(context.env, context.cwd, kind.questions);
    const files = snapshotFiles(context.cwd, [projectFile, localFile, guardFile, '.ralph/.gitignore']);
    const end = await runLoop({
      ...prepared,
      ...sandboxOf(context, prepared),
      cwd: context.cwd,
      env: context.env,
      workingCopy,
      words: [...prepared.words, ...answer.words],
      wordsKept: () => answer.forget(),
      version: __VERSION__,
      clock: systemClock,
      redactor,
      finish: signals.finish,
      stop: signals.stop,
      oneIteration: input.values['one-iteration'] !== undefined,
      mailbox,
      restoreFiles: () => [...(owned.restore() ? ['.ralph/lock'] : []), ...files.restore()],
      terminal: terminalOf(context),
      nonce: () => randomHex(6),
      observer: observerOf(view, [kind.observe?.(redactor, prepared.run), telemetry]),
    });
    if (end === null) return otherExits.yielded.exitCode;
    if (kind.hasNext !== false) afterEnd(view, () => conclude(context, prepared, end, { ...kind, view }));
    return end.exitCode;
  } finally {
    afterEnd(view, () => mailbox.close());
    afterEnd(view, () => owned.release());
    signals.close();
    view.close();
    await telemetry?.close();
  }
}

/** Warns of a failure, since the run has its end by now and its exit code stays. */
function afterEnd(view: RunOutput, act: () => void): void {
  try {
    act();
  } catch (error) {
    view.warn(messageOf(error));
  }
}

/** Opens the working copy once. The first call is early: git works while we look for the agent. */
function workingCopyOpener(cwd: string): (settings: PreparedRun['settings']) => Promise<WorkingCopy> {
  let opening: Promise<WorkingCopy> | null = null;
  return (settings) => {
    opening ??= openWorkingCopy(cwd, { sandboxed: isSandboxed(settings) });
    opening.catch(() => {});
    return opening;
  };
}

/** Passes all events to the view, and those of the journal and the agent to the others, too. */
function observerOf(
  view: RunOutput,
  others: readonly (Partial<RunSpec['observer']> | undefined)[],
): RunSpec['observer'] {
  return {
    journal(event) {
      view.journal(event);
      for (const other of others) other?.journal?.(event);
    },
    agent(event) {
      view.agent(event);
      for (const other of others) other?.agent?.(event);
    },
    stderr: (text) => view.stderr(text),
  };
}

/** Loads OpenTelemetry only if a collector is named. */
async function openTelemetry({ env }: Context, view: RunOutput) {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const { startTelemetry, telemetryPackages } = await import('../../show/stats/telemetry.ts');
  const telemetry = await startTelemetry(__VERSION__);
  if (telemetry)
    return { journal: (event: JournalEvent) => telemetry.event(event), close: () => telemetry.close() };
  view.warn(
    `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the SDK is missing: npm install ${telemetryPackages.join(' ')}`,
  );
  return undefined;
}

async function showDryRun(context: Context, prepared: PreparedRun, redactor: Redactor, format: string) {
  if (format !== '' && format !== 'json') {
    throw new RalphError('usage', `--dry-run is "${format}", but has to be json or nothing`, {
      remedy: 'ralph run --dry-run=json -p "your task"',
    });
  }
  const { dryRun } = await import('./dry-run.ts');
  for (const warning of prepared.warnings) context.stderr.write(`warning: ${warning}\n`);
  context.stdout.write(redactor.text(dryRun(prepared, format === 'json')));
  return 0;
}

function permissionLine({ adapter, permissions, asRoot, version }: RunAgent): string {
  const change = permissions === 'full' ? '--permissions edit for less' : '--permissions full for everything';
  const task = { prompt: '', permissions, flags: [], asRoot };
  const set = Object.entries(adapter.command(task, version, 'stream').env).map(
    ([name, value]) => `${name}=${value}`,
  );
  const variables = set.length === 0 ? '' : `, and is told ${set.join(' ')}`;
  return `${adapter.name} may ${adapter.permits[permissions]}${variables} (${change})`;
}

const checksOutside =
  'guardrails and verify commands run outside of it, with what the agent wrote (sandboxChecks is false)';

/** Says where the agent runs, most of all if that is without a sandbox. */
function sandboxLine({ sandbox, agent, settings }: PreparedRun): string {
  if (sandbox !== null) return `${agent.adapter.name} runs in a sandbox (${sandbox})`;
  const why = settings.sandbox === 'none' ? 'as asked' : '--sandbox for one';
  return `${agent.adapter.name} runs without a sandbox (${why})`;
}

function sandboxOf(context: Context, prepared: PreparedRun): Pick<RunSpec, 'openSandbox'> {
  const { sandbox, agent, settings } = prepared;
  if (sandbox === null) return {};
  const { adapter, program } = agent;
  const needsHooks = agent.guard.checksStops === true;
  const spec = sandboxSpec(context, settings, { command: adapter.name, program, needsHooks });
  const how = { resumed: prepared.resume !== undefined };
  return {
    async openSandbox(reports) {
      const { openSandbox } = await import('../../sandbox/open-sandbox.ts');
      return openSandbox(sandbox, { ...spec, ...reports }, how);
    },
  };
}

function conclude(
  { cwd }: Context,
  { run }: PreparedRun,
  { outcome, because }: RunEnd,
  { view, closing, questions, typedIn }: RunKind & { readonly view: RunOutput },
): void {
  for (const line of closing?.() ?? []) view.outro(line);
  const file = keepQuestion(cwd, outcome, because.text, questions);
  if (file !== null) view.outro(`The agent waits for you: ${relative(typedIn ?? cwd, file)}`);
  const next = nextCommand(readRun(cwd, run).view, { asks: file !== null, isLatest: true });
  view.next(typedIn === undefined ? next : `cd ${shellWord(cwd)} && ${next}`);
}

/** Opens the output of a run, and prints what the user should know before it begins. */
function openView(
  { env, stdout, stderr }: Context,
  { values }: Input<typeof runOptions>,
  prepared: PreparedRun,
  redactor: Redactor,
): RunOutput {
  // A reader that goes away (a pager, a lost ssh) must not end a loop, least of all as a success.
  for (const { stream } of [stdout, stderr]) stream.removeAllListeners('error').on('error', () => {});
  const view = createRunOutput({
    mode: values.json ? 'json' : 'text',
    stream: prepared.settings.streamAgentOutput,
    maxOutput: { lines: prepared.settings.maxOutputLines, chars: prepared.settings.maxOutputChars },
    verbose: values.verbose ?? false,
    raw: values.raw ?? false,
    timestamps: values.timestamps ?? false,
    statusLine: values['status-line'] ?? true,
    color: values.color === 'always' || values.color === 'never' ? values.color : 'auto',
    env,
    stdout: stdout.stream,
    stderr: stderr.stream,
    redactor,
    now: () => systemClock.now(),
  });
  const { agent, guardLine, intro = [], settings, sandbox, sandboxWarning } = prepared;
  const outside = sandbox !== null && !settings.sandboxChecks ? [checksOutside] : [];
  for (const warning of prepared.warnings) view.warn(warning);
  const where = sandboxWarning === undefined ? [sandboxLine(prepared)] : [];
  for (const line of [permissionLine(agent), ...where, ...outside, guardLine, ...intro]) view.intro(line);
  if (sandboxWarning !== undefined) view.warn(sandboxWarning);
  for (const line of prepared.verbose) view.verbose(line);
  return view;
}

function warnOfEarlier(view: RunOutput, prepared: PreparedRun, abandoned: readonly string[]): void {
  for (const dead of abandoned) {
    if (dead !== prepared.run) view.warn(`run ${dead} had died; what it left running was ended`);
  }
  const skipped = skippedText(prepared.view);
  if (skipped !== null) view.warn(skipped);
}
