import type { AgentCommand, AgentTask, OutputMode, Permissions } from '../adapter.ts';
import { unlessGiven } from '../flags.ts';

/** Without a terminal nobody can approve, so that `default` allows only tools that read. */
const approvalModes: Record<Permissions, string> = { full: 'yolo', edit: 'auto_edit', read: 'default' };

export function command(task: AgentTask, _version: string | null, mode: OutputMode): AgentCommand {
  const { prompt, permissions, flags, resumeSession } = task;
  const approval = ['--approval-mode', approvalModes[permissions]];
  return {
    args: [
      ...unlessGiven(flags, ['-o', '--output-format'], ['-o', mode === 'stream' ? 'stream-json' : 'text']),
      ...unlessGiven(flags, ['--approval-mode', '-y', '--yolo'], approval),
      ...(resumeSession === undefined ? [] : ['--resume', resumeSession]),
      ...flags,
    ],
    stdin: prompt,
    // It refuses to run in a directory without trust; older versions lack the flag `--skip-trust`.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  };
}
