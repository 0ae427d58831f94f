import type { AgentAdapter, Permissions } from '../adapter.ts';
import { unlessGiven } from '../command.ts';

/** `--full-auto` of older versions is gone in 0.166; `-s` is in all of them. */
const sandboxFlags: Record<Permissions, readonly string[]> = {
  full: ['--dangerously-bypass-approvals-and-sandbox'],
  edit: ['-s', 'workspace-write'],
  read: ['-s', 'read-only'],
};

const sandboxNames = [
  '-s',
  '--sandbox',
  '--full-auto',
  '--yolo',
  '--approve-for-me',
  '--dangerously-bypass-approvals-and-sandbox',
];

export const command: AgentAdapter['command'] = (
  { prompt, permissions, flags, resumeSession },
  _version,
  mode,
) => ({
  args: [
    'exec',
    ...(mode === 'stream' ? unlessGiven(flags, ['--json'], ['--json']) : []),
    ...unlessGiven(flags, ['--skip-git-repo-check'], ['--skip-git-repo-check']),
    ...unlessGiven(flags, sandboxNames, sandboxFlags[permissions]),
    ...flags,
    // `resume` takes no sandbox flag, so everything else comes before it.
    ...(resumeSession === undefined ? [] : ['resume', resumeSession, '-']),
  ],
  stdin: prompt,
  env: {},
});
