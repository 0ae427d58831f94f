import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';
import { unlessGiven } from '../flags.ts';

/** What is not allowed needs somebody's approval, and there is nobody; a denial also beats approvals of the past. */
const permissionFlags: Record<Permissions, readonly string[]> = {
  full: ['--allow-all'],
  edit: ['--allow-tool=write'],
  read: ['--deny-tool=write', '--deny-tool=shell'],
};

/** A denial of the user's is no list of what is allowed: it stands beside ours. */
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
