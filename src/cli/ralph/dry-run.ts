import { newLoop } from '../../core/decide.ts';
import { formatDuration } from '../../core/duration.ts';
import { composePrompt } from '../../core/prompt.ts';
import { agentTask, withContract } from '../../drive/process/agent-turn.ts';
import { readText } from '../../os/files/files.ts';
import type { PreparedRun } from './prepare-run.ts';

/** Describes what a run would do: the command, the prompt, the checks and every limit. */
export function dryRun(prepared: PreparedRun, asJson: boolean): string {
  const { settings, agent, plan } = prepared;
  const task = 'text' in prepared.prompt ? prepared.prompt.text : (readText(prepared.prompt.file) ?? '');
  const loop = { ...(prepared.resume ?? newLoop(plan, task)), task };
  const message = withContract(agent, composePrompt(loop), loop);
  const command = agent.adapter.command({ ...agentTask(prepared), ...message }, agent.version, 'stream');
  const report = {
    agent: agent.adapter.name,
    permissions: agent.permissions,
    sandbox: prepared.sandbox ?? 'none',
    argv: [agent.program, ...command.args],
    promptOn: command.stdin === null ? 'argument' : 'stdin',
    prompt: message.prompt,
    iteration: loop.iteration,
    completion: plan.completion,
    minToolCalls: plan.minToolCalls,
    guardrails: settings.guardrails.map(({ command, failAction, timeout }) => ({
      command,
      failAction,
      timeoutMs: timeout === undefined ? settings.guardrailTimeout : timeout,
    })),
    verify: settings.verify,
    protectedPaths: settings.protectedPaths,
    ...(settings.scm ? { scm: settings.scm } : {}),
    timeouts: {
      idleMs: settings.idleTimeout,
      iterationMs: settings.iterationTimeout,
      exitGraceMs: settings.exitGrace,
    },
    limits: plan.limits,
    ...(prepared.resume ? { resume: prepared.run } : {}),
  };
  return asJson ? `${JSON.stringify(report, null, 2)}\n` : text(report);
}

type Report = { readonly [key: string]: unknown };

/** One line per figure; durations as people write them. */
function text(report: Report, indent = ''): string {
  return Object.entries(report)
    .map(([key, value]) => {
      if (key === 'prompt') return `${indent}prompt:\n${String(value).replace(/^/gm, `${indent}  | `)}\n`;
      if (typeof value === 'number' && key.endsWith('Ms')) {
        return `${indent}${key.slice(0, -2)}: ${formatDuration(value)}\n`;
      }
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return `${indent}${key}:\n${text(value as Report, `${indent}  `)}`;
      }
      return `${indent}${key.replace(/Ms$/, '')}: ${value === null ? 'none' : JSON.stringify(value)}\n`;
    })
    .join('');
}
