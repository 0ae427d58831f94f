import { basename } from 'node:path';
import type { AgentAdapter, Permissions } from '../../agents/adapter.ts';
import { agentVersion, rememberedVersion } from '../../config/agent-version.ts';
import { type CliSetting, isOfProject, type LoadedSettings, readSettings } from '../../config/settings.ts';
import { settingsError } from '../../config/settings-problem.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import type { LoopPlan } from '../../core/loop.ts';
import { completionContract, namesTag } from '../../core/prompt.ts';
import { agentMissing } from '../../drive/process/agent-turn.ts';
import { plainLoop } from '../../drive/process/loop-kind.ts';
import { planFor } from '../../drive/process/plan.ts';
import { latestUnfinished, type Resumable, resumable } from '../../drive/process/resume.ts';
import type { PromptSource, RunAgent, RunSpec } from '../../drive/process/run-spec.ts';
import { newRunView } from '../../journal/run-view.ts';
import { findRun, hasStarted, newRunId } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { readText } from '../../os/files/files.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { findRepository } from '../../os/git/git.ts';
import { notifyProblem, notifyWarnings } from '../../os/notify/check.ts';
import { findProgram, outsideEnvironment } from '../../os/process/process.ts';
import type { ProviderName, Sandbox, SandboxSpec } from '../../sandbox/sandbox.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { terminalOf } from '../kernel/terminal-of.ts';
import { adapterOf } from './checks/agent.ts';
import { preflight } from './checks/preflight.ts';
import type { runOptions } from './options.ts';
import { guardRun } from './run-guard.ts';
import { settingsRedactor } from './settings-redactor.ts';

type Values = Input<typeof runOptions>['values'];

/** A run with everything looked up and checked; nothing has been started or written yet. */
export type PreparedRun = Pick<
  RunSpec,
  | 'run'
  | 'settings'
  | 'cli'
  | 'plan'
  | 'prompt'
  | 'agent'
  | 'kind'
  | 'view'
  | 'resume'
  | 'firstIteration'
  | 'words'
  | 'passed'
  | 'matchPattern'
> & {
  /** The sandbox that was asked for, if one was. */
  readonly sandbox: RunSandbox | null;
  readonly warnings: readonly string[];
  /** What the guard does for this agent, before it does anything. */
  readonly guardLine: string;
  /** More lines before the run begins. */
  readonly intro?: readonly string[];
  /** Lines for `--verbose`. */
  readonly verbose: readonly string[];
};

/** A sandbox that works here and is not open yet. */
type RunSandbox = {
  readonly provider: ProviderName;
  readonly bringsAgent: boolean;
  open(spec: SandboxSpec, how: { readonly resumed: boolean }): Promise<Sandbox>;
};

/** Settings of the command line that depend on what is set below it. */
export type MoreSettings = (below: ResolvedSettings) => readonly CliSetting[];

/** `settled` hears of the settings as soon as they are known, while the rest is still being looked up. */
export async function prepareRun(
  context: Context,
  values: Values,
  more: MoreSettings,
  settled: (settings: ResolvedSettings) => void,
): Promise<PreparedRun> {
  const earlier = values.resume === undefined ? null : findResumable(context.cwd, values);
  const prompt = earlier?.prompt ?? readPrompt(values);
  const withCli = readSettings(context);
  const before = earlier?.cli ?? [];
  const below = withCli(before).settings;
  const cli = [...settingsOf(values, below), ...more(below)];
  const loaded = withCli([...before, ...cli]);
  const { settings, sources } = loaded;
  settled(settings);
  if (/^\s*(BLOCKED|DECIDE):/.test(settings.completionPromise ?? '')) {
    throw usage(
      'the completion promise must not begin with BLOCKED: or DECIDE:, which end the loop for a human',
    );
  }
  const sandbox = await findSandbox(context, loaded);
  const found = await findAgent(context, loaded, sandbox);
  const run = earlier?.run ?? newRun(context.cwd, values['run-id']);
  const number = iterationNumber(values['one-iteration']);
  const { guard, line: guardLine } = guardRun(context, settings, found, run, sandbox);
  const agent = { ...found, guard };
  const problem = preflight(context, loaded, agent);
  if (problem) throw problem;
  const ownSecret = isOfProject(loaded, 'notify.secret');
  const unsent = notifyProblem(settings.notify, context.env, { ownSecret });
  if (unsent !== null) throw settingsError(unsent);
  const plan = planFor(run, settings, agent.adapter, {
    minToolCalls: sources.minToolCalls !== 'default',
    response: sources.completionResponse !== 'default',
  });
  const matchPattern = await patternMatcher(settings.donePattern);
  const isSupervised = values['one-iteration'] !== undefined;
  const resume = earlier?.loop(plan, { counting: isSupervised, ...(number === undefined ? {} : { number }) });
  return {
    run,
    view: earlier?.view ?? newRunView(run),
    settings,
    cli,
    plan,
    prompt,
    agent,
    sandbox,
    kind: plainLoop,
    words: earlier?.words ?? [],
    passed: earlier?.passed ?? [],
    ...(resume ? { resume } : {}),
    firstIteration: resume?.iteration ?? number ?? 1,
    ...(matchPattern ? { matchPattern } : {}),
    warnings: [
      ...loaded.warnings,
      ...notifyWarnings(settings.notify, { env: context.env, terminal: terminalOf(context) }),
      ...contractWarning(prompt, plan, agent),
    ],
    guardLine: `${agent.adapter.name}: ${guardLine}`,
    verbose: values.verbose ? describe(context, loaded) : [],
  };
}

/** Found out before anything is started: nobody is to learn after an hour that there is no sandbox. */
async function findSandbox({ cwd, env }: Context, { settings }: LoadedSettings): Promise<RunSandbox | null> {
  const { sandbox: choice, sandboxImage } = settings;
  if (choice === undefined || choice === 'none') return null;
  const { chooseProvider, openSandbox } = await import('../../sandbox/open-sandbox.ts');
  const image = sandboxImage === undefined ? {} : { image: sandboxImage };
  const provider = await chooseProvider(choice, { cwd, env, ...image });
  return {
    provider,
    bringsAgent: provider !== 'bwrap' && provider !== 'none',
    open: (spec, how) => openSandbox(provider, spec, how),
  };
}

/** The id of a new run; one that a supervisor chose must not be in use. */
function newRun(cwd: string, id: string | undefined): string {
  if (id === undefined) return newRunId(systemClock.now());
  if (!/^[\w-]{1,60}$/.test(id))
    throw usage(`--run-id takes up to 60 letters, digits, dashes and underscores, not "${id}"`);
  if (hasStarted(cwd, id)) {
    throw new RalphError('run-exists', `there is a run ${id} already`, {
      remedy: `ralph run --resume ${id}`,
    });
  }
  return id;
}

function iterationNumber(text = ''): number | undefined {
  if (text === '') return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw usage(`--one-iteration takes the number of the iteration, not "${text}"`);
  return Number(text);
}

function findResumable(cwd: string, values: Values): Resumable {
  if (values['run-id'] !== undefined) throw usage('--run-id is for a new run; leave it out with --resume');
  if (values.prompt !== undefined || values['prompt-file'] !== undefined) {
    throw usage('--resume takes the task from the run; leave out --prompt and --prompt-file');
  }
  return resumable(cwd, values.resume ? findRun(cwd, values.resume) : latestUnfinished(cwd));
}

function readPrompt(values: Values): PromptSource {
  const { prompt, 'prompt-file': file } = values;
  if (prompt !== undefined && file !== undefined) {
    throw usage('exactly one of --prompt and --prompt-file is needed, but both are given');
  }
  if (prompt !== undefined) {
    if (prompt.trim() === '') throw usage('the prompt is empty');
    return { text: prompt };
  }
  if (file === undefined)
    throw usage('exactly one of --prompt and --prompt-file is needed, but none is given');
  const text = readPromptFile(file);
  if (text === null) throw usage(`the prompt file ${file} does not exist`);
  if (text.trim() === '') throw usage(`the prompt file ${file} is empty`);
  return { file };
}

/** Null where it does not exist. A pipe is refused, since the file is read again at each iteration. */
function readPromptFile(file: string): string | null {
  try {
    return readText(file);
  } catch (error) {
    throw usage(`the prompt file cannot be used: ${messageOf(error).replace(/\.$/, '')}`);
  }
}

/** Hosts on the command line come besides those in the files. */
function settingsOf(values: Values, { allowHosts }: ResolvedSettings): CliSetting[] {
  const table: readonly (readonly [CliSetting['key'], keyof Values])[] = [
    ['maximumIterations', 'maximum-iterations'],
    ['completionResponse', 'completion-response'],
    ['completionPromise', 'completion-promise'],
    ['promiseMatch', 'promise-match'],
    ['donePattern', 'done-pattern'],
    ['minToolCalls', 'min-tool-calls'],
    ['streamAgentOutput', 'stream-agent-output'],
    ['agent.command', 'agent'],
    ['agent.permissions', 'permissions'],
    ['verify', 'verify'],
    ['maxCost', 'max-cost'],
    ['maxTokens', 'max-tokens'],
    ['maxIterationCost', 'max-iteration-cost'],
    ['maxIterationTokens', 'max-iteration-tokens'],
    ['stuckAfter', 'stuck-after'],
  ];
  const durations: readonly (readonly [CliSetting['key'], keyof Values])[] = [
    ['idleTimeout', 'idle-timeout'],
    ['iterationTimeout', 'iteration-timeout'],
    ['guardrailTimeout', 'guardrail-timeout'],
    ['maxWait', 'max-wait'],
    ['maxTime', 'max-time'],
  ];
  const given = (key: CliSetting['key'], flag: keyof Values, value: unknown): CliSetting[] =>
    value === undefined ? [] : [{ key, value, flag: `--${flag}` }];
  return [
    ...table.flatMap(([key, flag]) => given(key, flag, values[flag])),
    ...given('allowHosts', 'allow-host', values['allow-host'] && [...allowHosts, ...values['allow-host']]),
    ...given('sandbox', 'sandbox', values.sandbox === '' ? 'auto' : values.sandbox),
    // Settings are written as people write them; the parser has made milliseconds of them.
    ...durations.flatMap(([key, flag]) =>
      given(key, flag, values[flag] === undefined ? undefined : `${values[flag]}ms`),
    ),
  ];
}

async function findAgent(
  context: Context,
  { settings }: LoadedSettings,
  sandbox: RunSandbox | null,
): Promise<Omit<RunAgent, 'guard'>> {
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
  const adapter = adapterOf(command, settings.agent);
  const root = realPath(findRepository(context.cwd) ?? context.cwd);
  const found = findProgram(command, sandbox === null ? context.env : outsideEnvironment(context.env, root));
  const program = sandbox?.bringsAgent ? basename(command) : (found ?? findProgram(command, context.env));
  if (program === null) throw agentMissing(command, adapter);
  return {
    adapter,
    program,
    // An agent that is a part of the project runs inside only.
    version:
      sandbox && (sandbox.bringsAgent || isWithin(realPath(program), root))
        ? null
        : await versionOf(adapter, program, context.env),
    permissions: permissionsFor(adapter, permissions ?? (sandbox === null ? 'edit' : 'full')),
    asRoot: process.getuid?.() === 0,
  };
}

/** Asked only where the command line depends on it; elsewhere what is remembered is enough. */
async function versionOf(
  adapter: AgentAdapter,
  program: string,
  env: Context['env'],
): Promise<string | null> {
  if (adapter.name === 'custom') return null;
  return adapter.needsVersion ? agentVersion(program, env) : rememberedVersion(program, env);
}

/** A mode that the CLI does not have is never replaced by a wider one behind the user's back. */
function permissionsFor(adapter: AgentAdapter, wanted: Permissions): Permissions {
  if (adapter.permits[wanted] !== undefined) return wanted;
  const modes = Object.keys(adapter.permits).join(' or ');
  throw new RalphError('no-such-permissions', `${adapter.name} has no "${wanted}" mode, only ${modes}`, {
    remedy: `choose one: --permissions ${modes.split(' ')[0]}`,
  });
}

async function patternMatcher(pattern: string | undefined): Promise<((text: string) => boolean) | undefined> {
  if (pattern === undefined) return undefined;
  const { compilePattern } = await import('../../core/pattern.ts');
  return compilePattern(pattern).test;
}

function contractWarning(prompt: PromptSource, plan: LoopPlan, { adapter }: RunAgent): string[] {
  if (adapter.name !== 'custom' && completionContract(plan.completion) !== null) return [];
  const text = 'text' in prompt ? prompt.text : (readText(prompt.file) ?? '');
  if (namesTag(text, plan.completion)) return [];
  return ['the agent is not told how to finish: say in your prompt what it has to write'];
}

function describe(context: Context, loaded: LoadedSettings): string[] {
  const redact = settingsRedactor(loaded.written, context.env);
  return [
    ...loaded.files.map((file) => `Loading settings from ${file}`),
    `Merged configuration: ${redact(JSON.stringify(loaded.written))}`,
  ];
}

function usage(message: string): RalphError {
  return new RalphError('usage', message, { remedy: 'ralph run -p "your task"', exitCode: 2 });
}
