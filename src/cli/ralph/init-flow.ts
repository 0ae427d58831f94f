import { type AgentName, agentNameOf, agents } from '../../agents/registry.ts';
import type { DetectedProject } from '../../config/detect.ts';
import { resolveSettings } from '../../config/settings-layers.ts';
import type { SettingsFile } from '../../config/settings-schema.ts';
import { splitWords } from '../../core/words.ts';
import { type Choice, isYes, type Talk } from './talk.ts';

/** What is known of the project and the machine when the questions begin. */
export type InitFindings = {
  /** The present settings as text; null without any. */
  readonly existing: string | null;
  /** What `--yes` would take; null for answers from a pipe, which get only the plain questions. */
  readonly project: DetectedProject | null;
  isInstalled(command: string): boolean;
};

const defaults = resolveSettings({}, 'the defaults');

/** Asks for all that a settings file needs; null if the existing file stays. */
export async function initFlow(talk: Talk, findings: InitFindings): Promise<SettingsFile | null> {
  if (findings.existing !== null) {
    talk.say(findings.existing);
    if (!(await isYes(talk, 'Overwrite? (y/N):', 'N'))) return null;
  }
  return askSettings(talk, findings);
}

/** A settings file that also has the defaults that people change most often. */
export function newSettings(answers: SettingsFile): SettingsFile {
  return {
    maximumIterations: defaults.maximumIterations,
    completionResponse: defaults.completionResponse,
    outputTruncateChars: defaults.outputTruncateChars,
    streamAgentOutput: defaults.streamAgentOutput,
    includeIterationCountInPrompt: defaults.includeIterationCountInPrompt,
    ...answers,
  };
}

/** The settings that a project proposes: its checks, without the build if there are others, and what they read. */
export function proposedChecks({ checks, configuration }: DetectedProject) {
  const quick = checks.filter(({ kind }) => kind !== 'build');
  const guardrails = (quick.length > 0 ? quick : checks).map(({ command }) => ({
    command,
    failAction: 'APPEND',
  }));
  const protectedPaths = configuration.length === 0 ? {} : { protectedPaths: [...configuration] };
  return { guardrails, ...protectedPaths };
}

async function askSettings(talk: Talk, { project, isInstalled }: InitFindings): Promise<SettingsFile> {
  const command = await talk.ask({
    text: 'Agent command (e.g., claude, codex, amp, or other LLM CLI):',
    preset: project?.agents[0] ?? '',
    problem: (line) => (line === '' ? 'An agent command is required.' : undefined),
  });
  const agent = agentNameOf(command);
  if (!isInstalled(command))
    talk.say(`"${command}" is not on the PATH: ralph run cannot start it until it is.`);
  else if (agent === 'custom')
    talk.say(`ralph does not know "${command}": it gets the prompt on standard input, and its text is read.`);
  const flags = await talk.ask({
    text: 'Agent flags (comma-separated, optional):',
    problem: (line) => {
      const open = splitCommas(line).find((flag) => splitWords(flag) === null);
      return open === undefined ? undefined : `The quotes in ${open} are not closed.`;
    },
  });
  const iterations = await talk.ask({
    text: `Maximum iterations [${defaults.maximumIterations}]:`,
    preset: String(defaults.maximumIterations),
    problem: (line) =>
      /^\d+$/.test(line) && Number.isSafeInteger(Number(line)) && Number(line) > 0
        ? undefined
        : 'Maximum iterations must be a positive integer.',
  });
  const completionResponse = await talk.ask({
    text: `Completion response [${defaults.completionResponse}]:`,
    preset: defaults.completionResponse,
  });
  const checks = await askChecks(talk, project);
  const scm = await askScm(talk);
  const reach = project === null ? { agent: {} } : await askReach(talk, agent);
  return newSettings({
    maximumIterations: Number(iterations),
    completionResponse,
    ...reach,
    agent: { command, flags: splitCommas(flags), ...reach.agent },
    ...checks,
    ...(scm === null ? {} : { scm }),
  });
}

/** Proposes the checks that were found, then asks for more. */
async function askChecks(talk: Talk, project: DetectedProject | null) {
  const proposal = project === null ? { guardrails: [] } : proposedChecks(project);
  const names = proposal.guardrails.map(({ command }) => command).join(', ');
  const isTaken =
    names !== '' && (await isYes(talk, `Use these checks as guardrails: ${names}? (Y/n):`, 'Y'));
  return {
    ...(isTaken ? proposal : {}),
    guardrails: [...(isTaken ? proposal.guardrails : []), ...(await askGuardrails(talk))],
  };
}

async function askGuardrails(talk: Talk): Promise<NonNullable<SettingsFile['guardrails']>> {
  const guardrails = [];
  for (;;) {
    const command = await talk.ask({ text: 'Add guardrail command (leave blank to finish):' });
    if (command === '') return guardrails;
    talk.say(
      '  Its output joins the next prompt: APPEND after the task, PREPEND before it, REPLACE instead of it.',
    );
    const failAction = await talk.ask({
      text: '  Fail action (APPEND|PREPEND|REPLACE):',
      preset: 'APPEND',
      problem: (line) =>
        /^(append|prepend|replace)$/i.test(line)
          ? undefined
          : '  Fail action must be APPEND, PREPEND or REPLACE.',
    });
    const hint = await talk.ask({ text: '  Hint (optional, guidance for agent on failure):' });
    guardrails.push({ command, failAction: failAction.toUpperCase(), ...(hint === '' ? {} : { hint }) });
  }
}

async function askScm(talk: Talk): Promise<NonNullable<SettingsFile['scm']> | null> {
  if (!(await isYes(talk, 'Configure SCM? (y/N):', 'N'))) return null;
  const command = await talk.ask({
    text: '  SCM command (e.g., git):',
    problem: (line) => (line === '' ? '  An SCM command is required.' : undefined),
  });
  const tasks = await talk.ask({
    text: '  SCM tasks (comma-separated, e.g., commit,push):',
    problem: (line) => (splitCommas(line).length === 0 ? '  At least one SCM task is required.' : undefined),
  });
  return { command, tasks: splitCommas(tasks) };
}

const sandboxes: readonly Choice[] = [
  { value: 'none', hint: 'the agent can reach all that you can; the guard judges its tool calls' },
  { value: 'auto', hint: 'the agent sees this project and the hosts that it needs, nothing else' },
];

/** Asks where the agent runs and what it may do. What is the default anyway is not written. */
async function askReach(talk: Talk, agent: AgentName) {
  const sandbox = await talk.choose('Sandbox', sandboxes);
  const { permits } = agents[agent];
  const usual = sandbox === 'none' ? 'edit' : 'full';
  const modes = [usual, ...(['edit', 'full', 'read'] as const).filter((mode) => mode !== usual)] as const;
  const choices = modes.flatMap((value) => {
    const hint = permits[value];
    return hint === undefined ? [] : [{ value, hint: `it may ${hint}` }];
  });
  const answer = await talk.choose('Permissions', choices);
  const permissions = modes.find((mode) => mode === answer && mode !== usual);
  return {
    ...(sandbox === 'none' ? {} : { sandbox: 'auto' as const }),
    agent: permissions === undefined ? {} : { permissions },
  };
}

function splitCommas(line: string): string[] {
  return line
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
