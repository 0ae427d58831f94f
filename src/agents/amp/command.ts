import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';

/**
 * Without a flag Amp goes by its own rules: it edits files, runs commands that it takes for harmless, and waits for
 * an approval that never comes before others. It has no flag for less: `read` is not among its modes.
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
      // Last, because it would take a word behind it for the prompt; without one it reads standard input.
      '-x',
    ],
    stdin: prompt,
    env: {},
  };
}
