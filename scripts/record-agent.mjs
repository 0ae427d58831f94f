// Records what a real agent CLI prints for the cases of scripts/agent-cases.json, as fixtures of its adapter:
// `node scripts/record-agent.mjs NAME[@VERSION]|NAME=PATH CASE... [--out DIR] [-- WORDS...]`
// The words stand in for those of the adapter, for an agent that has none yet; `{prompt}` in them is the prompt.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installAgent, pickAgents, readAgents } from './install-agents.mjs';
import { loadSource } from './load-source.mjs';
import { isolation } from './offline.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const prompt = 'Do the task.';
const timeout = 180_000;

const source = await loadSource(root, [
  'src/agents/registry.ts',
  'src/agents/turn.ts',
  'src/agents/version.ts',
  'test/support/model-server/server.ts',
  'scripts/neutral.ts',
  'test/agents/place.ts',
  'test/support/processes.ts',
]);

try {
  const { name, cases, ownWords, out, ...agent } = await readCommandLine(process.argv.slice(2));
  const adapter = source.agents[name];
  if (!adapter && !ownWords) throw new Error(`${name} has no adapter yet: give its arguments after --`);
  mkdirSync(out, { recursive: true });
  for (const [title, script] of cases) {
    const { version, stream, end } = await record(agent, script, (version) =>
      ownWords ? ownCommand(ownWords) : adapter.command(taskFor(agent.row), version, 'stream'),
    );
    const file = `${version}-${title}`;
    writeFileSync(join(out, `${file}.ndjson`), stream);
    console.log(JSON.stringify({ [file]: readingOf(adapter, stream, end) }, null, 2));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function readCommandLine(given) {
  const dash = given.includes('--') ? given.indexOf('--') : given.length;
  const { values, positionals } = parseArgs({
    args: given.slice(0, dash),
    options: { out: { type: 'string' } },
    allowPositionals: true,
  });
  const known = JSON.parse(readFileSync(new URL('agent-cases.json', import.meta.url), 'utf8'));
  const [word = '', ...titles] = positionals;
  const wanted = titles.includes('all') ? Object.keys(known) : titles;
  const strangers = wanted.filter((title) => !Object.hasOwn(known, title));
  if (wanted.length === 0 || strangers.length > 0) {
    throw new Error(`which cases? there are: ${Object.keys(known).join(', ')}, all`);
  }
  const table = await readAgents();
  const [agent] = pickAgents(table, [word]);
  const row = table[agent.name];
  return {
    ...agent,
    row,
    program: await installAgent(agent, row),
    cases: wanted.map((title) => [title, known[title]]),
    ownWords: dash < given.length ? given.slice(dash + 1) : null,
    out: values.out ?? join(root, 'src', 'agents', agent.name, 'fixtures'),
  };
}

/** Runs the agent once, in a home and a folder of its own, with nothing but the scripted model to talk to. */
async function record({ row, program, version: pinned }, script, commandFor) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'record-'));
  const [home, cwd] = [join(base, 'home'), join(base, 'home', 'project')];
  mkdirSync(cwd, { recursive: true });
  const filled = JSON.parse(JSON.stringify(script).replaceAll('{cwd}', cwd));
  const model = await source.startModelServer({ script: filled, routes: row.routes });
  const place = await source.preparePlace({ row, program, cwd, home, model, isolation: isolation() });
  const call = (command) =>
    run([...place.through, program], command, { ...place.env, ...place.agentEnv }, cwd);
  try {
    const asked = await call({ args: ['--version'], stdin: null, env: {} });
    const version = source.versionIn(asked.stdout) ?? pinned;
    const end = await call(commandFor(version));
    const neutral = source.createNeutralizer({
      [cwd]: '/home/dev/project',
      [home]: '/home/dev',
      [`127.0.0.1:${model.port}`]: '127.0.0.1:8080',
      [hostname()]: 'localhost',
    });
    const stream = neutral(end.stdout);
    const traces = source.tracesIn(stream, [homedir(), base, root, hostname()]);
    if (traces.length > 0)
      throw new Error(`the stream still names ${traces.join(', ')}: nothing was written`);
    return { version, stream, end };
  } finally {
    for (const pid of source.processesWithEnvironment('HOME', home)) endNow(pid);
    place?.close();
    await model.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function endNow(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}

function taskFor({ flags = [] }) {
  return { prompt, permissions: 'full', flags, asRoot: process.getuid?.() === 0 };
}

function ownCommand(words) {
  const args = words.map((word) => word.replaceAll('{prompt}', prompt));
  return { args, stdin: words.some((word) => word.includes('{prompt}')) ? null : prompt, env: {} };
}

function run([first, ...words], { args, stdin, env }, placeEnv, cwd) {
  const child = spawn(first, [...words, ...args], { cwd, env: { ...placeEnv, ...env }, timeout });
  child.stdin.on('error', () => {}); // An agent that ends without reading its input is no failure.
  child.stdin.end(stdin ?? '');
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (piece) => {
      text[name] += piece;
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (exitCode) => done({ ...text, exitCode }));
  });
}

/** How the adapter reads the recording, to be compared with what a person reads in it. */
function readingOf(adapter, stream, { exitCode, stderr }) {
  if (!adapter) return { exitCode };
  const reader = source.createTurnReader(adapter);
  for (const line of stream.split('\n')) reader.push(line);
  return reader.finish({ exitCode, cause: 'exited', stderrTail: stderr.slice(-4000) });
}
