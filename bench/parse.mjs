// A whole `ralph run` over an agent that prints a lot: redacted, logged, parsed, shown. Against the least that a
// program in Node can do with the same stream, and against `wc -l`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, interleave } from './support/measure.mjs';
import { ralph, watch } from './support/room.mjs';
import { writeLongLine, writeStream } from './support/streams.mjs';

const bufferSplit = fileURLToPath(new URL('support/buffer-split.cjs', import.meta.url));
const longLineMb = 50;

export async function run(room, { rounds = 3, mb = 256 }) {
  room.install('claude', '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.325\nexec cat "$BENCH_STREAM"\n');
  const stream = join(room.folder, 'stream.ndjson');
  writeStream(stream, mb);
  const whole = await race(room, stream, rounds);
  const half = join(room.folder, 'half.ndjson');
  writeLongLine(half, longLineMb / 2);
  writeLongLine(stream, longLineMb);
  const line = await interleave({ half: () => loop(room, half), ours: () => loop(room, stream) }, { rounds });

  const speed = (figures) => figures.map(({ ms }) => mb / (ms / 1000));
  const ms = (figures) => figures.map((figure) => figure.ms);
  const throughput = { unit: 'MB/s', ours: speed(whole.ours) };
  const against = 'Buffer split + JSON.parse';
  return [
    compare(`${mb} MB stream`, {
      ...throughput,
      floor: speed(whole.floor),
      against,
      budget: { of: 'ratio', atLeast: 0.28 },
    }),
    compare(`${mb} MB stream`, { ...throughput, floor: speed(whole.count), against: 'wc -l' }),
    ...memory(`${mb} MB stream`, whole, against, 110),
    compare(`one line of ${longLineMb} MB`, {
      unit: 'ms',
      ours: ms(line.ours),
      floor: ms(line.half),
      against: `one of ${longLineMb / 2} MB`,
      budget: { of: 'ratio', atMost: 2.3 },
    }),
    ...memory(
      `one line of ${longLineMb} MB`,
      { ours: line.ours, floor: line.half },
      'half of it',
      6 * longLineMb,
    ),
  ];
}

function race(room, stream, rounds) {
  return interleave(
    {
      count: () => watch(room, ['sh', '-c', 'cat "$1" | wc -l', 'sh', stream]),
      floor: () => watch(room, [process.execPath, bufferSplit, 'cat', stream]),
      ours: () => loop(room, stream),
    },
    { rounds },
  );
}

function loop(room, stream) {
  const words = ['run', '--agent', 'claude', '-p', 'Mend the queue.', '-m', '1'];
  return watch(room, [process.execPath, ralph, ...words], { expected: 1, extra: { BENCH_STREAM: stream } });
}

/** Nothing where the system does not tell. */
function memory(name, { ours, floor }, against, atMost) {
  const rss = (figures) => figures.map(({ rssMb }) => rssMb);
  if ([...ours, ...floor].some(({ rssMb }) => rssMb === null)) return [];
  const budget = { of: 'ours', atMost };
  return [compare(`peak RSS, ${name}`, { unit: 'MB', ours: rss(ours), floor: rss(floor), against, budget })];
}
