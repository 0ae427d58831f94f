import { basename } from 'node:path';
import type { AgentAdapter, RunHook } from '../../agents/adapter.ts';
import { agentVersion, rememberedVersion } from '../../config/agent-version.ts';
import { type CliSetting, isOfProject, type LoadedSettings, readSettings } from '../../config/settings.ts';
import { settingsError } from '../../config/settings-problem.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import { isSandboxed, permissionsOf, type ResolvedSettings } from '../../config/settings-schema.ts';
import { messageOf, RalphError } from '../../core/error.ts';
import type { LoopPlan } from '../../core/loop.ts';
import { completionContract, namesTag } from '../../core/prompt.ts';
import { agentMissing } from '../../drive/process/agent-turn.ts';
import { plainLoop } from '../../drive/process/loop-kind.ts';
import { planFor } from '../../drive/process/plan.ts';
import { latestUnfinished, type Resumable, resumable } from '../../drive/process/resume.ts';
import type { PromptSource, RunAgent, RunSpec } from '../../drive/process/run-spec.ts';
import { RunView } from '../../journal/run-view.ts';
import { findRun, hasStarted, newRunId } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { isMachineFailure } from '../../os/files/file-error.ts';
import { readText } from '../../os/files/files.ts';
import { isWithin, realPath } from '../../os/files/real-path.ts';
import { findRepository } from '../../os/git/git.ts';
import { notifyProblem, notifyWarnings } from '../../os/notify/check.ts';
import { findProgram, outsideEnvironment } from '../../os/process/process.ts';
import type { ProviderName } from '../../sandbox/sandbox.ts';
import { terminalOf } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { adapterOf, programOf } from './checks/agent.ts';
import { preflight } from './checks/preflight.ts';
import type { runOptions } from './options.ts';
import { bringsAgent, guardRun } from './run-guard.ts';
import { settingsOf } from './run-settings.ts';
import { requireTrust } from './trust.ts';

type Values = Input<typeof runOptions>['values'];

/** A run that is ready to start; nothing has been started or written yet. */
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
  /** A sandbox that works here; null for a run without one. */
  readonly sandbox: ProviderName | null;
  readonly warnings: readonly string[];
  /** Tells what the guard does for this agent. */
  readonly guardLine: string;
  /** Warning in place of the line about the sandbox. */
  readonly sandboxWarning?: string;
  /** More lines to print before the run begins. */
  readonly intro?: readonly string[];
  /** Lines for `--verbose`. */
  readonly verbose: readonly string[];
};

/** What another kind of loop wants of its run. */
export type RunWishes = {
  /** Makes more settings of the command line out of those in the files. */
  settings?(below: ResolvedSettings): Promise<readonly CliSetting[]>;
  /** Hooks that its agent gets besides the guard. */
  readonly hooks?: readonly RunHook[];
};

/** Looks everything up. `settled` gets the settings as soon as they are known, while the rest is still looked up. */
export async function prepareRun(
  context: Context,
  values: Values,
  wishes: RunWishes,
  settled: (settings: ResolvedSettings) => void,
): Promise<PreparedRun> {
  const earlier = values.resume === undefined ? null : findResumable(context.cwd, values);
  const prompt = earlier?.prompt ?? readPrompt(values);
  const ask = values['one-iteration'] === undefined;
  const trust = await requireTrust(context, { trust: values.trust, ask });
  const withCli = readSettings({ cwd: context.cwd, env: context.env, trust });
  const before = earlier?.cli ?? [];
  const below = withCli(before).settings;
  const cli = [...settingsOf(values, below), ...((await wishes.settings?.(below)) ?? [])];
  const loaded = withCli([...before, ...cli]);
  const { settings, sources } = loaded;
  settled(settings);
  const sandbox = await findSandbox(context, loaded);
  const program = await findAgent(context, loaded, sandbox);
  const run = earlier?.run ?? newRun(context.cwd, values['run-id']);
  const hooked = { ...program, run, hooks: wishes.hooks ?? [] };
  const { guard, line: guardLine } = guardRun(context, settings, hooked, sandbox);
  const agent = { ...program, guard };
  refuseUnusable(context, loaded, agent);
  const plan = planFor(run, settings, agent.adapter, {
    minToolCalls: sources.minToolCalls !== 'default',
    response: sources.completionResponse !== 'default',
  });
  const matchPattern = await patternMatcher(settings.donePattern);
  const number = iterationNumber(values['one-iteration']);
  const counting = values['one-iteration'] !== undefined;
  const resume = earlier?.loop(plan, { counting, ...(number === undefined ? {} : { number }) });
  return {
    run,
    view: earlier?.view ?? new RunView(run),
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

/** Throws what a run would only fail on later. */
function refuseUnusable(context: Context, loaded: LoadedSettings, agent: RunAgent): void {
  const { completionPromise = '', notify } = loaded.settings;
  if (/^\s*(BLOCKED|DECIDE):/.test(completionPromise)) {
    throw usage(
      'the completion promise must not begin with BLOCKED: or DECIDE:, which end the loop for a human',
    );
  }
  const problem = preflight(context, loaded, agent);
  if (problem) throw problem;
  const place = { cwd: context.cwd, env: context.env, sandboxed: isSandboxed(loaded.settings) };
  const unsent = notifyProblem(notify, place, { ownSecret: isOfProject(loaded, 'notify.secret') });
  if (unsent !== null) throw settingsError(unsent);
}

/** Chooses the sandbox before anything starts, so that a missing one is known at once. */
async function findSandbox({ cwd, env }: Context, { settings }: LoadedSettings) {
  const { sandbox: choice, sandboxImage: image } = settings;
  if (choice === undefined || choice === 'none') return null;
  const { chooseProvider } = await import('../../sandbox/open-sandbox.ts');
  return chooseProvider(choice, { cwd, env, ...(image === undefined ? {} : { image }) });
}

/** Returns the id of a new run. One that a supervisor chose must not be in use. */
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
  const resume = `ralph run --resume ${values.resume ?? ''}`.trim();
  if (values['run-id'] !== undefined)
    throw usage('--run-id is for a new run; leave it out with --resume', resume);
  if (values.prompt !== undefined || values['prompt-file'] !== undefined) {
    throw usage('--resume takes the task from the run; leave out --prompt and --prompt-file', resume);
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

/** Null if the file does not exist. Refuses a pipe, since the file is read again at each iteration. */
function readPromptFile(file: string): string | null {
  try {
    return readText(file);
  } catch (error) {
    if (isMachineFailure(error)) throw error;
    throw usage(`the prompt file cannot be used: ${messageOf(error).replace(/\.$/, '')}`);
  }
}

async function findAgent(context: Context, { settings }: LoadedSettings, sandbox: ProviderName | null) {
  const { command } = settings.agent;
  if (command === undefined) {
    const message = 'no agent is set: neither --agent nor agent.command in .ralph/settings.json';
    throw new RalphError('no-agent', message, { remedy: 'ralph init --yes' });
  }
  const adapter = adapterOf(command, settings.agent);
  if (adapter.protocol === 'acp' && (sandbox === 'sbx' || sandbox === 'docker-sandbox'))
    throw usage(`${sandbox} starts an agent of its own, which ralph cannot talk to by ACP: --sandbox=bwrap`);
  const name = programOf(command, settings.agent);
  const root = realPath(findRepository(context.cwd) ?? context.cwd);
  const outside = sandbox === null ? context.env : outsideEnvironment(context.env, root);
  const installed = findProgram(name, outside) ?? findProgram(name, context.env);
  const program = bringsAgent(sandbox) ? basename(name) : installed;
  if (program === null) throw agentMissing(name, adapter);
  return {
    adapter,
    program,
    // An agent that is a part of the project runs only in the sandbox.
    version:
      sandbox && (bringsAgent(sandbox) || isWithin(realPath(program), root))
        ? null
        : await versionOf(adapter, program, context.env),
    permissions: permissionsOf(settings),
    asRoot: process.getuid?.() === 0,
  };
}

/** Runs `--version` only if the command line depends on it; otherwise the remembered version is enough. */
async function versionOf(adapter: AgentAdapter, program: string, env: Context['env']) {
  if (adapter.name === 'custom' || adapter.protocol === 'acp') return null;
  return adapter.needsVersion ? agentVersion(program, env) : rememberedVersion(program, env);
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
  const redactor = settingsRedactor(loaded.settings, context.env);
  return [
    ...loaded.files.map((file) => `Loading settings from ${file}`),
    `Merged configuration: ${redactor.text(JSON.stringify(loaded.written))}`,
  ];
}

function usage(message: string, remedy = 'ralph run -p "your task"'): RalphError {
  return new RalphError('usage', message, { remedy });
}
