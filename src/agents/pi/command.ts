import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';

/** pi never asks for permission: its tools are what it may do. */
const toolFlags: Record<Permissions, readonly string[]> = {
  full: [],
  edit: ['--tools', 'read,edit,write,grep,find,ls'],
  read: ['--tools', 'read,grep,find,ls'],
};

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, systemPrompt, permissions, flags, resumeSession } = task;
  return {
    args: [
      '-p',
      '--mode',
      mode === 'stream' ? 'json' : 'text',
      ...toolFlags[permissions],
      ...(systemPrompt === undefined ? [] : ['--append-system-prompt', systemPrompt]),
      ...(resumeSession === undefined ? [] : ['--session', resumeSession]),
      // Of an option that is given twice, the last value counts.
      ...flags,
    ],
    stdin: prompt,
    env: {},
  };
}
