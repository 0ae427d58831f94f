// `npm run bench [-- NAME… --json --patient --rounds N --mb N]`: what ralph costs, as ratios against a floor in the same run.
// A row over its budget says OVER; only a benchmark that breaks makes the exit code 1.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bePatient } from './support/measure.mjs';
import { openRoom } from './support/room.mjs';
import { formatTable } from './support/table.mjs';

const benches = {
  start: () => import('./start.mjs'),
  'first-agent': () => import('./first-agent.mjs'),
  iteration: () => import('./iteration.mjs'),
  parse: () => import('./parse.mjs'),
  journal: () => import('./journal.mjs'),
  hooks: () => import('./hooks.mjs'),
  guard: () => import('./guard.mjs'),
  fleet: () => import('./fleet.mjs'),
  cluster: () => import('./cluster.mjs'),
  peers: () => import('./peers.mjs'),
};
/** Not unless asked for: one installs other people's programs, the other starts databases and waits for a lease. */
const onRequest = ['peers', 'cluster'];

const { values, positionals } = readWords();
const names =
  positionals.length > 0 ? positionals : Object.keys(benches).filter((name) => !onRequest.includes(name));
if (values.patient) bePatient();
const options = { ...count('rounds'), ...count('mb') };
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => process.exit(code));

const machine = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  load: loadavg()[0],
};
const results = [];
for (const name of names) results.push(await runBench(name));
if (values.json) console.log(JSON.stringify({ machine, results }, null, 2));
else print();
process.exitCode = results.some(({ broken }) => broken) ? 1 : 0;

async function runBench(name) {
  process.stderr.write(`${name}...\n`);
  const { run, problem } = await benches[name]();
  const skipped = problem?.();
  if (skipped) return { name, skipped, rows: [] };
  const room = openRoom();
  process.once('exit', room.close);
  try {
    return { name, rows: await run(room, options) };
  } catch (error) {
    await setImmediate(); // Where Ctrl-C broke it, that ends us here.
    return { name, broken: error.message, rows: [] };
  } finally {
    process.removeListener('exit', room.close);
    room.close();
  }
}

function print() {
  const { node, cpu, cores, load } = machine;
  console.log(
    `\nNode ${node}, ${cores} cores, ${cpu}, load ${load.toFixed(1)}; medians of n interleaved runs\n`,
  );
  if (load > cores * 0.75 && !values.patient) {
    console.log(
      'The machine is busy: ratios still tell something, times do not. --patient waits for quiet.\n',
    );
  }
  const rows = results.flatMap((result) => result.rows);
  if (rows.length > 0) console.log(formatTable(rows));
  for (const { name, skipped, broken } of results) {
    if (skipped) console.log(`\n${name} was skipped: ${skipped}`);
    if (broken) console.log(`\n${name} is broken: ${broken}`);
  }
}

function count(name) {
  if (values[name] === undefined) return {};
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1) fail(`--${name} takes a whole number above 0`);
  return { [name]: number };
}

function readWords() {
  const [flag, value] = [{ type: 'boolean' }, { type: 'string' }];
  const options = { json: flag, patient: flag, rounds: value, mb: value };
  try {
    const words = parseArgs({ options, allowPositionals: true });
    const unknown = words.positionals.filter((name) => !Object.hasOwn(benches, name));
    if (unknown.length === 0) return words;
    return fail(`no such benchmark: ${unknown.join(', ')} (there are: ${Object.keys(benches).join(', ')})`);
  } catch (error) {
    return fail(error.message);
  }
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
