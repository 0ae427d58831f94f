// Installs the real agent CLIs that src/agents/*/real.json pin, each version in a folder of its own below the user's cache
// folder, where the next run finds it again. `node scripts/install-agents.mjs NAME[@VERSION]...` prints what is where;
// `NAME=PATH` is a program that is there already.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const timeout = 300_000;
const npmWords = [
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
  // Without a network it is better to know soon.
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=2000'],
];

/** The real.json of every agent that has one, by its name. */
export async function readAgents() {
  const folder = new URL('../src/agents/', import.meta.url);
  const rows = (await readdir(folder)).sort().map(async (name) => {
    const path = new URL(`${name}/real.json`, folder);
    return existsSync(path) ? [[name, JSON.parse(await readFile(path, 'utf8'))]] : [];
  });
  return Object.fromEntries((await Promise.all(rows)).flat());
}

/**
 * `claude` is the newest of its versions, `claude@2.1.197` is that one, `all` is every version of every agent on npm, and
 * `claude=PATH` is a program that is there already. `acp` is each agent that is tested by the Agent Client Protocol, and
 * `gemini/acp` is one of them.
 */
export function pickAgents(table, words) {
  return words.flatMap((word) => {
    if (word === 'acp')
      return pickAgents(
        table,
        Object.keys(table).flatMap((name) => (table[name].acp ? `${name}/acp` : [])),
      );
    if (word.endsWith('/acp'))
      return pickAgents(table, [word.slice(0, -4)]).map((agent) => ({ ...agent, protocol: 'acp' }));
    if (word === 'all') return Object.keys(table).flatMap((name) => versionsOf(table, name));
    const [, ownName, path] = /^([^=]+)=(.+)$/.exec(word) ?? [];
    if (path) return [{ name: rowName(table, ownName), version: 'local', program: resolve(path) }];
    const [name, wanted] = word.split('@');
    const known = versionsOf(table, rowName(table, name));
    const found = known.find(({ version }) => wanted === undefined || version.split('-')[0] === wanted);
    if (found) return [found];
    const versions = known.map(({ version }) => version).join(', ');
    if (versions === '') throw new Error(`${name} is not on npm: say where its program is, ${name}=PATH`);
    throw new Error(`${name} ${wanted} is not in its real.json (there are: ${versions})`);
  });
}

function rowName(table, name) {
  if (Object.hasOwn(table, name)) return name;
  throw new Error(`no such agent: ${name} (there are: ${Object.keys(table).join(', ')}, all)`);
}

function versionsOf(table, name) {
  return (table[name].versions ?? []).map((version) => ({ name, version }));
}

/** Installs an agent unless it is there, and returns the path of its program. */
export async function installAgent({ name, version, program: own }, { package: spec, needsScripts }) {
  if (own !== undefined) {
    await call(own, ['--version']);
    return own;
  }
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const agents = join(cache, 'ralph', 'agents');
  const folder = join(agents, `${name}-${version.split('-')[0]}`);
  const program = join('node_modules', '.bin', name);
  if (existsSync(join(folder, program))) return join(folder, program);

  process.stderr.write(`installing ${spec} ${version}...\n`);
  await mkdir(agents, { recursive: true });
  // Only a whole install gets the name that a later run looks for.
  const fresh = await mkdtemp(join(agents, `.${name}-`));
  try {
    await writeFile(join(fresh, 'package.json'), '{ "private": true }\n');
    const scripts = needsScripts ? [] : ['--ignore-scripts'];
    await call('npm', ['install', ...scripts, ...npmWords, `${spec}@${version}`], fresh);
    await call(join(fresh, program), ['--version'], fresh);
    await rename(fresh, folder).catch((error) => {
      if (!existsSync(join(folder, program))) throw error; // Another run was faster.
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return join(folder, program);
}

/** Runs a program to its end and throws the first line of its output where it fails. */
async function call(program, words, cwd) {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = `${output}${text}`.slice(0, 500);
    });
  }
  const code = await new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (status, signal) => done(status ?? signal));
  });
  const [why] = output.trim().split('\n');
  if (code !== 0) throw new Error(`${program} ${words[0]} ended with ${code}: ${why}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const table = await readAgents();
  const installed = [];
  for (const agent of pickAgents(table, process.argv.slice(2))) {
    const result = await installAgent(agent, table[agent.name]).then(
      (program) => ({ program }),
      (error) => ({ error: error.message }),
    );
    installed.push({ ...agent, ...result });
  }
  process.stdout.write(`${JSON.stringify(installed, null, 2)}\n`);
}
