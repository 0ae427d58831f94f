// From the start of `ralph run` to the first start of the agent, against the start of Node itself.
import { installAgent } from './support/agent.mjs';
import { compare, interleave } from './support/measure.mjs';
import { clockProblem, launch, ralph, time } from './support/room.mjs';
import { recordedStream } from './support/streams.mjs';

export { clockProblem as problem };

export async function run(room, { rounds = 31 }) {
  const empty = room.write('empty.cjs', '');
  const agent = installAgent(room, room.write('stream.ndjson', recordedStream()));
  const argv = [process.execPath, ralph, 'run', '--agent', 'claude', '-p', 'Mend the queue.', '-m', '1'];
  const samples = await interleave(
    {
      floor: () => time(room, [process.execPath, empty]),
      ours() {
        const { started } = launch(room, argv, { expected: 1, extra: agent.extra });
        return agent.takeTimes()[0].started - started;
      },
    },
    { rounds, warmups: 3 },
  );
  return [
    compare('ralph run to the first agent', {
      ...samples,
      unit: 'ms',
      against: 'node empty.cjs',
      budget: { of: 'ratio', atMost: 3 },
    }),
  ];
}
