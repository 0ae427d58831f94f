import type { Agent } from './agent.ts';
import { amp } from './amp/agent.ts';
import { claude } from './claude/agent.ts';
import { cline } from './cline/agent.ts';
import { codex } from './codex/agent.ts';
import { copilot } from './copilot/agent.ts';
import { custom } from './custom/agent.ts';
import { gemini } from './gemini/agent.ts';
import { opencode } from './opencode/agent.ts';
import { pi } from './pi/agent.ts';
import { qwen } from './qwen/agent.ts';

/** All agents, in the order in which `ralph init` offers them. */
export const agents = {
  claude,
  codex,
  amp,
  opencode,
  gemini,
  copilot,
  qwen,
  pi,
  cline,
  custom,
} satisfies Record<string, Agent>;

export type AgentName = keyof typeof agents;

/** Names of all agents but `custom`, which is any other program. */
export const knownAgents = Object.keys(agents)
  .filter(isAgentName)
  .filter((name) => name !== 'custom');

/** Returns the agent of a command, by its base name; any other program is `custom`. */
export function agentNameOf(command: string): AgentName {
  const name = baseNameOf(command);
  return isAgentName(name) ? name : 'custom';
}

/** Returns the name of a command without its directory and without the ending that Windows adds. */
export function baseNameOf(command: string): string {
  const base = command.split(/[\\/]/).at(-1) ?? '';
  return base.replace(/\.(?:exe|cmd)$/i, '');
}

function isAgentName(name: string): name is AgentName {
  return Object.hasOwn(agents, name);
}
