// Records what a real agent CLI shows in a terminal, as fixtures of the agent, for the cases of
// scripts/screen-cases.mjs: `node scripts/record-screens.mjs NAME[@VERSION]|NAME=PATH CASE... [--out DIR]`
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installAgent, pickAgents, readAgents } from './install-agents.mjs';
import { loadSource } from './load-source.mjs';
import { isolation } from './offline.mjs';
import { screenCases } from './screen-cases.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = await loadSource(root, [
  'test/support/model-server/server.ts',
  'scripts/neutral.ts',
  'test/agents/place.ts',
  'test/support/processes.ts',
]);

try {
  const { agent, cases, out } = await readCommandLine(process.argv.slice(2));
  mkdirSync(out, { recursive: true });
  for (const [title, script] of cases) {
    const screen = await record(agent, script);
    writeFileSync(join(out, `${agent.version}-${title}.txt`), `${screen}\n`);
    console.log(`--- ${agent.name} ${agent.version} ${title}\n${screen}`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function readCommandLine(given) {
  const options = { out: { type: 'string' } };
  const { values, positionals } = parseArgs({ args: given, options, allowPositionals: true });
  const [word = '', ...titles] = positionals;
  const table = await readAgents();
  const [picked] = pickAgents(table, [word]);
  const row = table[picked.name];
  const known = row.screens ? screenCases(row.screens) : {};
  const wanted = titles.includes('all') ? Object.keys(known) : titles;
  if (wanted.length === 0 || wanted.some((title) => !Object.hasOwn(known, title))) {
    throw new Error(`which cases? ${picked.name} has: ${Object.keys(known).join(', ')}, all`);
  }
  const out = values.out ?? join(root, 'src', 'agents', picked.name, 'fixtures', 'screens');
  const agent = { ...picked, row, program: await installAgent(picked, row) };
  return { agent, cases: wanted.map((title) => [title, known[title]]), out };
}

/** Starts the agent in a terminal of its own, takes the steps of the case, and returns what is to be seen then. */
async function record({ row, program }, { files = {}, env = {}, args = [], answers, steps }) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'record-'));
  const [home, cwd] = [join(base, 'home'), join(base, 'home', 'project')];
  mkdirSync(cwd, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], { cwd });
  const model = await source.startModelServer({ script: { answers }, routes: row.routes });
  const fill = (value) =>
    JSON.parse(JSON.stringify(value).replaceAll('{cwd}', cwd).replaceAll('{url}', model.url));
  const filled = { ...row, env: { ...row.env, ...env }, files: fill({ ...row.files, ...files }) };
  const place = await source.preparePlace({ row: filled, program, cwd, home, model, isolation: isolation() });
  const socket = join(base, 'tmux');
  const tmux = (...words) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], { encoding: 'utf8' });
  const screen = () => tmux('capture-pane', '-p').trimEnd();
  try {
    const variables = Object.entries({ ...place.env, ...place.agentEnv, TERM: 'xterm-256color' })
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${value}`);
    const command = ['env', '-i', ...variables, ...place.through, program, ...(row.flags ?? []), ...args];
    tmux('new-session', '-d', '-x', '100', '-y', '36', '-c', cwd, '--', ...command);
    tmux('set-option', '-g', 'remain-on-exit', 'on');
    for (const step of steps) await take(step, { tmux, screen });
    const neutral = source.createNeutralizer({
      [cwd]: '/home/dev/project',
      [home]: '/home/dev',
      [`127.0.0.1:${model.port}`]: '127.0.0.1:8080',
      [hostname()]: 'localhost',
    });
    const text = neutral(screen());
    const traces = source.tracesIn(text, [homedir(), base, root, hostname()]);
    if (traces.length > 0)
      throw new Error(`the screen still names ${traces.join(', ')}: nothing was written\n${text}`);
    return text;
  } finally {
    for (const pid of source.processesWithEnvironment('HOME', home)) endNow(pid);
    tmux('kill-server');
    place.close();
    await model.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function take([kind, value], { tmux, screen }) {
  if (kind === 'press') return tmux('send-keys', value);
  if (kind === 'type') return tmux('send-keys', '-l', '--', value);
  if (kind === 'rest') return sleep(value);
  const pattern = new RegExp(value);
  const deadline = Date.now() + 60_000;
  while (!pattern.test(screen())) {
    if (Date.now() > deadline) throw new Error(`/${value}/ did not come:\n${screen()}`);
    await sleep(100);
  }
}

function endNow(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
}
