import { agentNameOf, agents } from '../agents/registry.ts';
import { RalphError } from '../core/error.ts';
import { outcomes } from '../core/outcome.ts';
import { namesMarker } from '../core/prompt.ts';
import { ownWorkingCopy } from '../loop/ownership.ts';
import { planFor } from '../loop/plan.ts';
import { type RunSpec, runLoop } from '../loop/run-loop.ts';
import { createRedactor } from '../safety/redact.ts';
import { newRunId } from '../store/runs.ts';
import { type CliSetting, type LoadedSettings, loadSettings } from '../store/settings.ts';
import { systemClock } from '../system/clock.ts';
import { readText } from '../system/files.ts';
import { findProgram } from '../system/process.ts';
import { createRunView } from '../view/run-view.ts';
import type { runOptions } from './options.ts';
import { listenForSignals } from './signals.ts';
import type { Context, Input } from './spec.ts';

type RunInput = Input<typeof runOptions>;

export async function main(context: Context, input: RunInput): Promise<number> {
  const { values } = input;
  const prompt = readPrompt(values);
  const loaded = loadSettings({ cwd: context.cwd, env: context.env, cli: settingsOf(values) });
  const { settings } = loaded;
  const agent = findAgent(context, loaded);
  const run = newRunId(systemClock.now());
  const asked = {
    minToolCalls: loaded.sources.minToolCalls !== 'default',
    response: loaded.sources.completionResponse !== 'default',
  };
  const plan = planFor(run, settings, agent.adapter, asked);
  const matchPattern = await patternMatcher(settings.donePattern);
  const redactor = createRedactor(context.env);
  const view = createRunView({
    mode: values.json ? 'json' : 'text',
    stream: settings.streamAgentOutput,
    verbose: values.verbose ?? false,
    env: context.env,
    stdout: context.stdout,
    stderr: context.stderr,
    redact: (text) => redactor.text(text),
    now: () => systemClock.now(),
  });
  for (const warning of [...loaded.warnings, ...contractWarning(prompt, plan, agent.adapter.name)])
    view.warn(warning);
  for (const file of loaded.files) view.verbose(`Loading settings from ${file}`);
  view.verbose(`Agent command: ${[agent.program, ...settings.agent.flags].join(' ')}`);

  const owned = await ownWorkingCopy(context.cwd, run, systemClock);
  const signals = listenForSignals(view);
  try {
    for (const dead of owned.abandoned) view.warn(`run ${dead} had died; what it left running was ended`);
    const spec: RunSpec = {
      run,
      cwd: context.cwd,
      env: context.env,
      settings,
      plan,
      prompt,
      agent,
      version: __VERSION__,
      clock: systemClock,
      redactor,
      finish: signals.finish,
      stop: signals.stop,
      observer: view,
      ...(matchPattern ? { matchPattern } : {}),
    };
    return (await runLoop(spec)).exitCode;
  } finally {
    signals.close();
    view.close();
    owned.release();
  }
}

function readPrompt(values: RunInput['values']): RunSpec['prompt'] {
  const { prompt, 'prompt-file': file } = values;
  if ((prompt === undefined) === (file === undefined)) {
    const why = prompt === undefined ? 'is missing' : 'are both given';
    throw usage(
      `exactly one of --prompt and --prompt-file is needed, but they ${why}`.replace('they is', 'it is'),
    );
  }
  if (prompt !== undefined) {
    if (prompt.trim() === '') throw usage('the prompt is empty');
    return { text: prompt };
  }
  if (file === undefined) throw usage('the prompt is missing');
  if (readText(file) === null) throw usage(`the prompt file ${file} does not exist`);
  return { file };
}

function settingsOf(values: RunInput['values']): CliSetting[] {
  return [
    { key: 'maximumIterations', value: values['maximum-iterations'], flag: '--maximum-iterations' },
    { key: 'completionResponse', value: values['completion-response'], flag: '--completion-response' },
    { key: 'completionPromise', value: values['completion-promise'], flag: '--completion-promise' },
    { key: 'promiseMatch', value: values['promise-match'], flag: '--promise-match' },
    { key: 'donePattern', value: values['done-pattern'], flag: '--done-pattern' },
    { key: 'minToolCalls', value: values['min-tool-calls'], flag: '--min-tool-calls' },
    { key: 'streamAgentOutput', value: values['stream-agent-output'], flag: '--stream-agent-output' },
    { key: 'agent.command', value: values.agent, flag: '--agent' },
  ];
}

function findAgent(context: Context, { settings }: LoadedSettings): RunSpec['agent'] {
  const { command, permissions } = settings.agent;
  if (command === undefined) {
    throw new RalphError(
      'no-agent',
      'no agent is set: neither --agent nor agent.command in .ralph/settings.json',
      {
        remedy: 'ralph init --yes',
      },
    );
  }
  const adapter = agents[agentNameOf(command)];
  const program = findProgram(command, context.env);
  if (program === null) {
    throw new RalphError('agent-missing', `the agent "${command}" is not installed, or not on the PATH`, {
      remedy: adapter.install,
      exitCode: outcomes.AGENT_FAILED.exitCode,
    });
  }
  const asRoot = process.getuid?.() === 0;
  return { adapter, program, version: null, permissions: permissions ?? 'edit', asRoot };
}

async function patternMatcher(pattern: string | undefined): Promise<((text: string) => boolean) | undefined> {
  if (pattern === undefined) return undefined;
  const { compilePattern } = await import('../core/pattern.ts');
  const compiled = compilePattern(pattern);
  return (text) => compiled.test(text);
}

function contractWarning(prompt: RunSpec['prompt'], plan: RunSpec['plan'], agent: string): string[] {
  if (agent !== 'custom') return [];
  const text = 'text' in prompt ? prompt.text : (readText(prompt.file) ?? '');
  if (namesMarker(text, plan.completion)) return [];
  return ['this agent is not told how to finish: name the completion tag in your prompt'];
}

function usage(message: string): RalphError {
  return new RalphError('usage', message, { remedy: 'ralph run -p "your task"', exitCode: 2 });
}
