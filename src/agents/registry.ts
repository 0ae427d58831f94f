import type { AgentAdapter } from './adapter.ts';
import { amp } from './amp/adapter.ts';
import { claude } from './claude/adapter.ts';
import { cline } from './cline/adapter.ts';
import { codex } from './codex/adapter.ts';
import { copilot } from './copilot/adapter.ts';
import { custom } from './custom/adapter.ts';
import { gemini } from './gemini/adapter.ts';
import { opencode } from './opencode/adapter.ts';
import { pi } from './pi/adapter.ts';
import { qwen } from './qwen/adapter.ts';

export type AgentName =
  | 'claude'
  | 'codex'
  | 'amp'
  | 'opencode'
  | 'gemini'
  | 'copilot'
  | 'qwen'
  | 'pi'
  | 'cline'
  | 'custom';

/** Every agent there is: a name without an adapter does not compile. */
export const agents: Record<AgentName, AgentAdapter> = {
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
};

/** The agent behind a command, by its base name; any other program is `custom`. */
export function agentNameOf(command: string): AgentName {
  const base = command.split(/[\\/]/).at(-1) ?? '';
  const name = base.replace(/\.(?:exe|cmd)$/i, '');
  return isAgentName(name) ? name : 'custom';
}

function isAgentName(name: string): name is AgentName {
  return Object.hasOwn(agents, name);
}
