import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';
import { unlessGiven } from '../flags.ts';

/** `acceptEdits` lets it change files under the working copy and denies other commands; `plan` only looks. */
const permissionFlags: Record<Permissions, readonly string[]> = {
  full: ['--dangerously-skip-permissions'],
  edit: ['--permission-mode', 'acceptEdits'],
  read: ['--permission-mode', 'plan'],
};

const permissionNames = ['--permission-mode', '--dangerously-skip-permissions'];

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, systemPrompt, permissions, flags, resumeSession, asRoot } = task;
  return {
    args: [
      '-p',
      // 2.1 refuses stream-json without --verbose.
      ...(mode === 'stream' ? ['--output-format', 'stream-json', '--verbose'] : ['--output-format', 'text']),
      // A later --permission-mode does not undo --dangerously-skip-permissions, so ours gives way to the user's.
      ...unlessGiven(flags, permissionNames, permissionFlags[permissions]),
      ...(systemPrompt === undefined ? [] : ['--append-system-prompt', systemPrompt]),
      ...(resumeSession === undefined ? [] : ['--resume', resumeSession]),
      ...flags,
    ],
    stdin: prompt,
    // As root it refuses to skip permissions unless told that it is in a sandbox.
    env: asRoot && permissions === 'full' ? { IS_SANDBOX: '1' } : {},
  };
}
