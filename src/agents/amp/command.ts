import type { AgentAdapter } from '../adapter.ts';

export const command: AgentAdapter['command'] = (
  { prompt, permissions, flags, resumeSession },
  _version,
  mode,
) => ({
  args: [
    ...(resumeSession === undefined ? [] : ['threads', 'continue', resumeSession]),
    ...(mode === 'stream' ? ['--stream-json'] : []),
    // Without it Amp waits for approvals that nobody gives: `full` is its only mode in a loop.
    ...(permissions === 'full' ? ['--dangerously-allow-all'] : []),
    ...flags,
    // Last, because it takes the next word for the prompt; without one it reads standard input.
    '-x',
  ],
  stdin: prompt,
  env: {},
});
