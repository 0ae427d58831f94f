import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import { outcomes } from '../core/outcome.ts';
import { ownWorkingCopy } from '../loop/ownership.ts';
import { runLoop } from '../loop/run-loop.ts';
import type { RunAgent, RunEnd } from '../loop/run-spec.ts';
import { createRedactor, type Redactor } from '../safety/redact.ts';
import { holdFiles } from '../store/held-files.ts';
import { keepQuestion, takeAnswer } from '../store/human.ts';
import { openMailbox } from '../store/mailbox.ts';
import { localFile, projectFile } from '../store/settings-layers.ts';
import { systemClock } from '../system/clock.ts';
import { createRunView, type RunView } from '../view/run-view.ts';
import type { runOptions } from './options.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import { listenForSignals } from './signals.ts';
import type { Context, Input } from './spec.ts';

export async function main(context: Context, input: Input<typeof runOptions>): Promise<number> {
  return startRun(context, input, conclude);
}

/** Runs a loop to its end; `concluded` may say what to do next. */
export async function startRun(
  context: Context,
  input: Input<typeof runOptions>,
  concluded: (context: Context, run: string, end: RunEnd, view: RunView) => void,
): Promise<number> {
  const prepared = await prepareRun(context, input.values);
  if (input.values['dry-run'] !== undefined) {
    const { dryRun } = await import('./dry-run.ts');
    context.stdout.write(dryRun(prepared, input.values['dry-run'] === 'json'));
    return 0;
  }
  const redactor = createRedactor({ ...context.env, ...prepared.settings.agent.env });
  const view = viewOf(context, input, prepared, redactor);
  for (const warning of prepared.warnings) view.warn(warning);
  view.intro(permissionLine(prepared.agent));
  for (const line of prepared.verbose) view.verbose(line);
  const owned = await ownWorkingCopy(context.cwd, prepared.run, systemClock);
  const signals = listenForSignals(view);
  const mailbox = openMailbox(context.env, prepared.run, (how) => signals.ask(how));
  try {
    for (const dead of owned.abandoned) {
      if (dead !== prepared.run) view.warn(`run ${dead} had died; what it left running was ended`);
    }
    const held = holdFiles(context.cwd, [projectFile, localFile]);
    const end = await runLoop({
      ...prepared,
      cwd: context.cwd,
      env: context.env,
      words: takeAnswer(context.cwd),
      version: __VERSION__,
      clock: systemClock,
      redactor,
      finish: signals.finish,
      stop: signals.stop,
      takeNotes: () => mailbox.takeNotes(),
      restoreFiles: () => [...(owned.restore() ? ['.ralph/lock'] : []), ...held.restore()],
      nonce: () => randomBytes(6).toString('hex'),
      observer: view,
    });
    concluded(context, prepared.run, end, view);
    return end.exitCode;
  } finally {
    mailbox.close();
    signals.close();
    view.close();
    owned.release();
  }
}

/** What the agent may do, before it does anything. */
function permissionLine({ adapter, permissions }: RunAgent): string {
  const change = permissions === 'full' ? '--permissions edit for less' : '--permissions full for everything';
  return `${adapter.name} may ${adapter.permits[permissions]} (${change})`;
}

/** What a human may want to do next. */
function conclude({ cwd }: Context, run: string, { outcome, because }: RunEnd, view: RunView): void {
  const kept = keepQuestion(cwd, outcome, because.text);
  if (kept)
    view.next(`the agent waits for you (${relative(cwd, kept)}): ralph answer "..." && ralph run --resume`);
  else if (outcome === 'PROMISE_ACCEPTED') view.next(`ralph show ${run}`);
  else if (outcomes[outcome].exitCode === 130) view.next('ralph run --resume');
  else view.next(`ralph show ${run}, then: ralph run --resume`);
}

function viewOf(
  context: Context,
  { values }: Input<typeof runOptions>,
  prepared: PreparedRun,
  redactor: Redactor,
): RunView {
  return createRunView({
    mode: values.json ? 'json' : 'text',
    stream: prepared.settings.streamAgentOutput,
    verbose: values.verbose ?? false,
    raw: values.raw ?? false,
    timestamps: values.timestamps ?? false,
    color: values.color === 'always' || values.color === 'never' ? values.color : 'auto',
    env: context.env,
    stdout: context.stdout,
    stderr: context.stderr,
    redactor,
    now: () => systemClock.now(),
  });
}
