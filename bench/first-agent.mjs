// From the start of `ralph run` to the first start of the agent, against the start of Node itself.
import { agentProblem, installAgent } from './support/agent.mjs';
import { compare, interleave } from './support/measure.mjs';
import { ralph, run as runProgram, time } from './support/room.mjs';
import { recordedStream } from './support/streams.mjs';

export const problem = agentProblem;

export async function run(room, { rounds = 31 }) {
  const empty = room.write('empty.cjs', '');
  const agent = installAgent(room, room.write('stream.ndjson', recordedStream()));
  const argv = [process.execPath, ralph, 'run', '--agent', 'claude', '-p', 'Mend the queue.', '-m', '1'];
  const samples = await interleave(
    {
      floor: () => time(room, [process.execPath, empty]),
      ours() {
        const start = beginningOfAMillisecond();
        runProgram(room, argv, { expected: 1, extra: agent.extra });
        return agent.takeTimes()[0].started - start;
      },
    },
    { rounds, warmups: 3 },
  );
  return [
    compare('ralph run to the first agent', {
      ...samples,
      unit: 'ms',
      against: 'node empty.cjs',
      budget: { of: 'ratio', atMost: 2 },
    }),
  ];
}

/** The clock that bash reads too, and exact although it counts in whole milliseconds: it has just moved on. */
function beginningOfAMillisecond() {
  const before = Date.now();
  for (;;) {
    const now = Date.now();
    if (now !== before) return now;
  }
}
