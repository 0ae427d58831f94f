import type { AgentCommand, AgentTask } from '../adapter.ts';

export function command({ prompt, flags }: AgentTask): AgentCommand {
  return { args: ['fly', ...flags], stdin: prompt, env: {} };
}
