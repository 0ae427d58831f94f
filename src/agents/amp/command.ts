import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';

/**
 * Without a flag Amp edits files and runs commands that it considers harmless; before others it waits for an approval
 * that never comes. It has no flag for less, so that `read` is not among its modes.
 */
const permissionFlags: Record<Permissions, readonly string[]> = {
  full: ['--dangerously-allow-all'],
  edit: [],
  read: [],
};

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, permissions, flags, resumeSession } = task;
  return {
    args: [
      ...(resumeSession === undefined ? [] : ['threads', 'continue', resumeSession]),
      ...(mode === 'stream' ? ['--stream-json'] : []),
      ...permissionFlags[permissions],
      ...flags,
      // Last, because it takes the next word for the prompt; without one it reads standard input.
      '-x',
    ],
    stdin: prompt,
    env: {},
  };
}
