// One line of the journal and one durable update, against the bare calls of the file system.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compare, interleave } from './support/measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = {
  type: 'tool.started',
  iteration: 3,
  id: 'toolu_0123456789',
  name: 'Bash',
  summary: 'npm test -- queue',
};
const end = {
  type: 'run.ended',
  outcome: 'MAX_ITERATIONS_REACHED',
  exitCode: 1,
  because: { code: 'max-iterations', text: '10 iterations are used up' },
  iterations: 10,
  usage: { inputTokens: 1000, outputTokens: 1000, cacheReadTokens: 0, cacheWriteTokens: 0 },
  ms: 1000,
};
const state = JSON.stringify({
  iteration: 3,
  history: Array.from({ length: 20 }, (_, n) => ({ n, text: 'y'.repeat(60) })),
});

export async function run(room, { rounds = 31 }) {
  const { openJournal, writeAtomic } = await loadSource(room);
  const journal = openJournal(join(room.folder, 'journal.ndjson'), () => Date.now());
  const fd = fs.openSync(join(room.folder, 'floor.ndjson'), 'a');
  const lines = [tool, end].map((event) => `${JSON.stringify(journal.append(event))}\n`);
  const file = join(room.folder, 'state.json');
  const samples = await interleave(
    {
      line: each(1000, () => journal.append(tool)),
      bareLine: each(1000, () => fs.writeSync(fd, lines[0])),
      durableLine: each(20, () => journal.append(end)),
      bareDurableLine: each(20, () => {
        fs.writeSync(fd, lines[1]);
        fs.fdatasyncSync(fd);
      }),
      file: each(20, () => writeAtomic(file, state)),
      bareFile: each(20, () => {
        const temporary = fs.openSync(`${file}.tmp`, 'w');
        fs.writeSync(temporary, state);
        fs.fsyncSync(temporary);
        fs.closeSync(temporary);
        fs.renameSync(`${file}.tmp`, file);
      }),
    },
    { rounds, warmups: 3 },
  );
  fs.closeSync(fd);
  journal.close();
  const row = (name, ours, floor, against, budget) =>
    compare(name, { unit: 'µs', ours, floor, against, budget });
  const durable = { of: 'ratio', atMost: 1.2 };
  return [
    row('journal line', samples.line, samples.bareLine, 'write', { of: 'ours', atMost: 20 }),
    row('durable journal line', samples.durableLine, samples.bareDurableLine, 'write + fdatasync', durable),
    row('durable state file', samples.file, samples.bareFile, 'write + fsync + rename', durable),
  ];
}

/** Microseconds per call, over so many calls. */
function each(count, call) {
  return () => {
    const start = performance.now();
    for (let done = 0; done < count; done += 1) call();
    return ((performance.now() - start) * 1000) / count;
  };
}

async function loadSource({ folder }) {
  const esbuild = await import('esbuild');
  const outfile = join(folder, 'source.mjs');
  const contents = "export * from './src/journal/journal.ts'; export * from './src/os/files/files.ts';";
  await esbuild.build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}
