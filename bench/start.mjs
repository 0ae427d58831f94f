// What a command costs before it does anything, against the start of Node itself.
import { compare, interleave } from './support/measure.mjs';
import { clockProblem, ralph, time } from './support/room.mjs';

export { clockProblem as problem };

const node = process.execPath;

export async function run(room, { rounds = 31 }) {
  const empty = room.write('empty.cjs', '');
  const timed = (argv) => () => time(room, argv);
  const samples = await interleave(
    {
      'node empty.cjs': timed([node, empty]),
      'node -e 0': timed([node, '-e', '0']),
      'ralph --version': timed([node, ralph, '--version']),
      'ralph --help': timed([node, ralph, '--help']),
      'ralph run --help': timed([node, ralph, 'run', '--help']),
    },
    { rounds, warmups: 3 },
  );
  const { 'node empty.cjs': floor, 'node -e 0': bare, ...commands } = samples;
  const shared = { unit: 'ms', floor, against: 'node empty.cjs' };
  const budget = { of: 'ratio', atMost: 1.25 };
  return [
    ...Object.entries(commands).map(([name, ours]) => compare(name, { ...shared, ours, budget })),
    compare('node -e 0', { ...shared, ours: bare }),
  ];
}
