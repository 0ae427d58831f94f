// The gap between the end of one agent and the start of the next, against a bare loop in bash over the same agent.
import { installAgent } from './support/agent.mjs';
import { compare, interleave } from './support/measure.mjs';
import { clockProblem, ralph, run as runProgram } from './support/room.mjs';
import { recordedStream } from './support/streams.mjs';

export { clockProblem as problem };

export const goes = 30;

/** Never done and never stuck: as many iterations as are allowed, which is exit code 1. */
export const loop = [
  ...[process.execPath, ralph, 'run', '--agent', 'claude', '-p', 'Mend the queue.'],
  ...['--maximum-iterations', `${goes}`, '--stuck-after', '0'],
];

export async function run(room, { rounds = 7 }) {
  const agent = installAgent(room, room.write('stream.ndjson', recordedStream()));
  const bare = ['/bin/bash', '-c', `for i in $(seq ${goes}); do claude; done`];
  const samples = await interleave(
    {
      floor: () => gapsOf(room, agent, bare),
      ours: () => gapsOf(room, agent, loop, { expected: 1 }),
    },
    { rounds },
  );
  return [
    compare('agent exit to next agent start', {
      ...samples,
      unit: 'ms',
      against: 'bash for loop',
      budget: { of: 'ours', atMost: 12 },
    }),
  ];
}

/** Runs a loop of `goes` goes and gives the milliseconds between them. */
export function gapsOf(room, agent, argv, options = {}) {
  runProgram(room, argv, { ...options, extra: { ...agent.extra, ...options.extra } });
  const times = agent.takeTimes();
  if (times.length !== goes)
    throw new Error(`${argv.join(' ')} ran the agent ${times.length} times, not ${goes}`);
  return times.slice(1).map(({ started }, index) => started - times[index].ended);
}
