import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';
import { unlessGiven } from '../flags.ts';

/** Without a terminal nobody can approve what is not allowed here. A denial also overrides saved approvals. */
const permissionFlags: Record<Permissions, readonly string[]> = {
  full: ['--allow-all'],
  edit: ['--allow-tool=write'],
  read: ['--deny-tool=write', '--deny-tool=shell'],
};

/** Flags that replace ours. A denial does not: it is added to ours. */
const permissionNames = ['--allow-all', '--yolo', '--allow-all-tools', '--allow-tool'];

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, permissions, flags, resumeSession } = task;
  return {
    args: [
      ...(mode === 'stream'
        ? unlessGiven(flags, ['--output-format'], ['--output-format', 'json'])
        : ['--silent']),
      ...unlessGiven(flags, permissionNames, permissionFlags[permissions]),
      ...(resumeSession === undefined ? [] : [`--resume=${resumeSession}`]),
      ...flags,
    ],
    stdin: prompt,
    env: {},
  };
}
