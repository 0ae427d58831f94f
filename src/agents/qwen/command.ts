import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';
import { unlessGiven } from '../flags.ts';

/** `auto-edit` denies every command, `plan` denies changes as well. */
const approvalModes: Record<Permissions, string> = { full: 'yolo', edit: 'auto-edit', read: 'plan' };

const approvalNames = ['--approval-mode', '--yolo', '-y'];

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, systemPrompt, permissions, flags, resumeSession } = task;
  return {
    args: [
      '-o',
      mode === 'stream' ? 'stream-json' : 'text',
      // It prints its help and exits if the mode is given twice.
      ...unlessGiven(flags, approvalNames, ['--approval-mode', approvalModes[permissions]]),
      ...(systemPrompt === undefined ? [] : ['--append-system-prompt', systemPrompt]),
      ...(resumeSession === undefined ? [] : ['--resume', resumeSession]),
      ...flags,
    ],
    stdin: prompt,
    env: {},
  };
}
