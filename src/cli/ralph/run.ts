import { relative } from 'node:path';
import { secretSettings } from '../../config/secret-settings.ts';
import { localFile, projectFile } from '../../config/settings-layers.ts';
import { RalphError } from '../../core/error.ts';
import { otherExits, outcomes } from '../../core/outcome.ts';
import { keepQuestion, readAnswer } from '../../drive/human.ts';
import { isPaused, openMailbox, postRefusal } from '../../drive/mailbox.ts';
import { ownWorkingCopy } from '../../drive/process/ownership.ts';
import { runLoop } from '../../drive/process/run-loop.ts';
import type { RunAgent, RunEnd, RunSpec } from '../../drive/process/run-spec.ts';
import { openWorkingCopy, type WorkingCopy } from '../../drive/process/working-copy.ts';
import type { JournalEvent } from '../../journal/events.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { randomHex } from '../../os/crypto.ts';
import { snapshotFiles } from '../../os/files/file-snapshot.ts';
import { findRepository } from '../../os/git/git.ts';
import { createRedactor, type Redactor } from '../../os/redact/redact.ts';
import { clearAbandoned } from '../../sandbox/stand-ins.ts';
import { createRunOutput, type RunOutput } from '../../show/terminal/run-output.ts';
import { listenForSignals } from '../kernel/signals.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { terminalOf } from '../kernel/terminal-of.ts';
import type { runOptions } from './options.ts';
import { type MoreSettings, type PreparedRun, prepareRun } from './prepare-run.ts';
import { sandboxSpec } from './sandbox-spec.ts';

export async function main(context: Context, input: Input<typeof runOptions>): Promise<number> {
  try {
    return await startRun(context, input, conclude);
  } catch (error) {
    const { 'one-iteration': number, 'run-id': id, resume = '' } = input.values;
    const run = id ?? resume;
    if (number !== undefined && run !== '') postRefusal(context.env, run, error);
    throw error;
  }
}

/** What makes another kind of loop out of a plain run. */
export type RunKind = {
  readonly settings?: MoreSettings;
  /** Where a question for a human is kept, if not in `.ralph`. */
  readonly questions?: string;
  shape?(prepared: PreparedRun, root: string | null): PreparedRun;
  /** Looks on besides the view. */
  observe?(redactor: Redactor, run: string): Pick<RunSpec['observer'], 'journal' | 'agent'>;
};

/** Runs a loop to its end; `concluded` may say what to do next. */
export async function startRun(
  context: Context,
  input: Input<typeof runOptions>,
  concluded: (context: Context, prepared: PreparedRun, end: RunEnd, view: RunOutput) => void,
  kind: RunKind = {},
): Promise<number> {
  clearAbandoned(context.env);
  let opening: Promise<WorkingCopy> | null = null;
  // git looks at the working copy while we look for the agent.
  const open = ({ sandbox }: PreparedRun['settings']): Promise<WorkingCopy> => {
    opening ??= openWorkingCopy(context.cwd, { sandboxed: sandbox !== undefined && sandbox !== 'none' });
    opening.catch(() => {});
    return opening;
  };
  const plain = await prepareRun(context, input.values, kind.settings ?? (() => []), open);
  const prepared = kind.shape?.(plain, findRepository(context.cwd)) ?? plain;
  const redactor = createRedactor({ ...context.env, ...secretSettings(prepared.settings) });
  if (input.values['dry-run'] !== undefined)
    return showDryRun(context, prepared, redactor, input.values['dry-run']);
  // A reader that goes away (a pager, a lost ssh) must not end a loop, least of all as a success.
  for (const { stream } of [context.stdout, context.stderr])
    stream.removeAllListeners('error').on('error', () => {});
  const view = viewOf(context, input, prepared, redactor);
  for (const warning of prepared.warnings) view.warn(warning);
  view.intro(permissionLine(prepared.agent));
  view.intro(sandboxLine(prepared));
  view.intro(prepared.guardLine);
  for (const line of prepared.intro ?? []) view.intro(line);
  for (const line of prepared.verbose) view.verbose(line);
  const workingCopy = await open(prepared.settings);
  const owned = await ownWorkingCopy(context.cwd, workingCopy.root, prepared.run, systemClock);
  const telemetry = await openTelemetry(context, view);
  const signals = listenForSignals(view);
  const mailbox = openMailbox(context.env, prepared.run, (how) => signals.ask(how));
  try {
    for (const dead of owned.abandoned) {
      if (dead !== prepared.run) view.warn(`run ${dead} had died; what it left running was ended`);
    }
    const skipped = skippedText(prepared.view);
    if (skipped !== null) view.warn(skipped);
    const answer = readAnswer(context.env, context.cwd, kind.questions);
    const held = snapshotFiles(context.cwd, [projectFile, localFile, '.ralph/.gitignore']);
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
      takeNotes: () => mailbox.takeNotes(),
      isPaused: () => isPaused(context.env, prepared.run),
      waitForMail: (signal) => mailbox.waitForChange(signal),
      takeDenials: () => mailbox.takeDenials(),
      restoreFiles: () => [...(owned.restore() ? ['.ralph/lock'] : []), ...held.restore()],
      terminal: terminalOf(context),
      nonce: () => randomHex(6),
      observer: allOf(view, [kind.observe?.(redactor, prepared.run), telemetry]),
    });
    if (end === null) return otherExits.yielded.exitCode;
    concluded(context, prepared, end, view);
    return end.exitCode;
  } finally {
    mailbox.close();
    signals.close();
    view.close();
    owned.release();
    await telemetry?.close();
  }
}

/** The view hears of everything, and whoever else wants to know of most. */
function allOf(
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

/** Only where a collector is named is any of it loaded. */
async function openTelemetry(
  { env }: Context,
  view: RunOutput,
): Promise<{ journal(event: JournalEvent): void; close(): Promise<void> } | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const { startTelemetry, telemetryPackages } = await import('../../show/stats/telemetry.ts');
  const telemetry = await startTelemetry(__VERSION__);
  if (telemetry) return { journal: (event) => telemetry.event(event), close: () => telemetry.close() };
  view.warn(
    `OTEL_EXPORTER_OTLP_ENDPOINT is set, but the SDK is missing: npm install ${telemetryPackages.join(' ')}`,
  );
  return undefined;
}

async function showDryRun(
  context: Context,
  prepared: PreparedRun,
  redactor: Redactor,
  format: string,
): Promise<number> {
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

/** What the agent may do, before it does anything. */
function permissionLine({ adapter, permissions, asRoot, version }: RunAgent): string {
  const change = permissions === 'full' ? '--permissions edit for less' : '--permissions full for everything';
  const task = { prompt: '', permissions, flags: [], asRoot };
  const set = Object.entries(adapter.command(task, version, 'stream').env).map(
    ([name, value]) => `${name}=${value}`,
  );
  const told = set.length === 0 ? '' : `, and is told ${set.join(' ')}`;
  return `${adapter.name} may ${adapter.permits[permissions]}${told} (${change})`;
}

/** Running unprotected is nothing that happens quietly. */
function sandboxLine({ sandbox, agent, settings }: PreparedRun): string {
  if (sandbox !== null) return `${agent.adapter.name} runs in a sandbox (${sandbox.provider})`;
  const asked = settings.sandbox === 'none' ? 'as asked' : '--sandbox for one';
  return `${agent.adapter.name} runs without a sandbox (${asked})`;
}

function sandboxOf(context: Context, prepared: PreparedRun): Pick<RunSpec, 'openSandbox'> {
  const { sandbox, agent, settings } = prepared;
  if (sandbox === null) return {};
  const { adapter, program } = agent;
  const spec = sandboxSpec(context, settings, { command: adapter.name, program });
  const how = { resumed: prepared.resume !== undefined };
  return { openSandbox: (denied) => sandbox.open({ ...spec, denied }, how) };
}

/** What a human may want to do next. */
function conclude(
  { cwd }: Context,
  prepared: PreparedRun,
  { outcome, because }: RunEnd,
  view: RunOutput,
): void {
  const { run, plan, agent } = prepared;
  const kept = keepQuestion(cwd, outcome, because.text);
  if (kept)
    view.next(`the agent waits for you (${relative(cwd, kept)}): ralph answer "..." && ralph run --resume`);
  else if (outcome === 'PROMISE_ACCEPTED') view.next(`ralph show ${run}`);
  else if (because.code === 'auth' && agent.adapter.login)
    view.next(`${agent.adapter.login}, then: ralph run --resume`);
  else if (outcome === 'MAX_ITERATIONS_REACHED') {
    view.next(`ralph show ${run}, then: ralph run --resume -m ${(plan.limits.iterations ?? 0) * 2}`);
  } else if (outcomes[outcome].exitCode === 130) view.next('ralph run --resume');
  else view.next(`ralph show ${run}, then: ralph run --resume`);
}

function viewOf(
  context: Context,
  { values }: Input<typeof runOptions>,
  prepared: PreparedRun,
  redactor: Redactor,
): RunOutput {
  return createRunOutput({
    mode: values.json ? 'json' : 'text',
    stream: prepared.settings.streamAgentOutput,
    verbose: values.verbose ?? false,
    raw: values.raw ?? false,
    timestamps: values.timestamps ?? false,
    statusLine: values['status-line'] ?? true,
    color: values.color === 'always' || values.color === 'never' ? values.color : 'auto',
    env: context.env,
    stdout: context.stdout.stream,
    stderr: context.stderr.stream,
    redactor,
    now: () => systemClock.now(),
  });
}
