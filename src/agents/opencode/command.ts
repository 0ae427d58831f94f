import type { AgentAdapter, Permissions } from '../adapter.ts';
import { unlessGiven } from '../command.ts';
import { atLeast } from '../version.ts';

/** OpenCode allows nearly everything by default; the model does not see a tool that is denied. */
const rules: Record<Permissions, Record<string, 'allow' | 'deny'>> = {
  full: { '*': 'allow' },
  edit: { bash: 'deny' },
  read: { bash: 'deny', edit: 'deny' },
};

const autoNames = ['--auto', '--yolo', '--dangerously-skip-permissions'];

export const command: AgentAdapter['command'] = (
  { prompt, permissions, flags, resumeSession },
  version,
  mode,
) => {
  // The flag of 1.18 and later keeps the user's own denials in force.
  const byFlag = permissions === 'full' && atLeast(version, '1.18.0');
  return {
    args: [
      'run',
      ...(mode === 'stream' ? unlessGiven(flags, ['--format'], ['--format', 'json']) : []),
      ...(byFlag ? unlessGiven(flags, autoNames, ['--auto']) : []),
      ...(resumeSession === undefined ? [] : ['--session', resumeSession]),
      ...flags,
    ],
    // As an argument, a prompt with blanks would reach the model in double quotes.
    stdin: prompt,
    env: byFlag ? {} : { OPENCODE_PERMISSION: JSON.stringify(rules[permissions]) },
  };
};
