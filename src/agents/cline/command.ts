import type { AgentAdapter, Permissions } from '../adapter.ts';
import { unlessGiven } from '../command.ts';

/** Cline approves all tools or none. Plan mode changes no file and stands for `edit` and `read`. */
const permissionFlags: Record<Permissions, readonly string[]> = {
  full: ['--auto-approve', 'true'],
  edit: ['--plan'],
  read: ['--plan'],
};

export const command: AgentAdapter['command'] = ({ prompt, permissions, flags }, _version, mode) => ({
  args: [
    ...(mode === 'stream' ? unlessGiven(flags, ['--json'], ['--json']) : []),
    ...unlessGiven(flags, ['--auto-approve', '--plan', '-p'], permissionFlags[permissions]),
    ...flags,
    // 3.0 reads standard input only from a file or a named pipe, and takes a single word for a command.
    '--',
    /\s/.test(prompt) ? prompt : `${prompt}\n`,
  ],
  stdin: null,
  env: {},
});
