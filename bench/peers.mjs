// The same gap between two agents as in `iteration`, of other loops that are published on npm.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gapsOf, goes, loop } from './iteration.mjs';
import { installAgent } from './support/agent.mjs';
import { compare, interleave } from './support/measure.mjs';
import { clockProblem } from './support/room.mjs';
import { recordedStream } from './support/streams.mjs';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ralphkit-bench');
const modules = join(cache, 'node_modules');
const packages = ['ralphy-cli@4.7.2', 'ralph-tui@0.11.0', 'bun@1.4.4'];
const tasks = Array.from({ length: goes }, (_, index) => `Task ${index + 1}`);

export function problem() {
  return clockProblem() ?? installPeers();
}

export async function run(room, { rounds = 5 }) {
  const agent = installAgent(room, room.write('stream.ndjson', recordedStream()));
  const samples = await interleave(
    {
      ours: () => gapsOf(room, agent, loop, { expected: 1 }),
      ralphy: () => gapsOf(room, agent, ralphy(), inCopy(room)),
      ralphTui: () => gapsOf(room, agent, ralphTui(), inCopy(room)),
    },
    { rounds },
  );
  const row = (floor, against) =>
    compare('agent exit to next agent start', { unit: 'ms', ours: samples.ours, floor, against });
  return [row(samples.ralphy, packages[0]), row(samples.ralphTui, `${packages[1]} --delay 0`)];
}

function ralphy() {
  const words = ['--claude', '--fast', '--no-commit', '--prd', 'PRD.md', '--max-iterations', `${goes}`];
  return [join(modules, '.bin', 'ralphy'), ...words];
}

function ralphTui() {
  const quiet = ['--headless', '--no-setup', '--no-sandbox', '--no-notify'];
  const words = ['--prd', 'prd.json', '--agent', 'claude', '--iterations', `${goes}`, '--delay', '0'];
  return [join(modules, '.bin', 'ralph-tui'), 'run', ...quiet, ...words];
}

/** A fresh copy of the repository, with the tasks as the peers want them; their exit codes are their own affair. */
function inCopy({ folder, repo, env }) {
  const cwd = join(folder, 'copy');
  rmSync(cwd, { recursive: true, force: true });
  cpSync(repo, cwd, { recursive: true, filter: (path) => !path.endsWith('.ralph') });
  writeFileSync(join(cwd, 'PRD.md'), `# Tasks\n${tasks.map((task) => `- [ ] ${task}\n`).join('')}`);
  const userStories = tasks.map((title, index) => ({
    id: `US-${index + 1}`,
    title,
    description: title,
    acceptanceCriteria: ['done'],
    priority: index + 1,
    passes: false,
  }));
  writeFileSync(join(cwd, 'prd.json'), JSON.stringify({ name: 'bench', branchName: 'main', userStories }));
  return { cwd, expected: null, extra: { PATH: `${bunFolder()}${delimiter}${env.PATH}` } };
}

/** Once, and without their scripts; with our own environment, since a proxy may need its certificates. */
function installPeers() {
  if (packages.every(isInstalled)) return null;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
  const { status } = spawnSync('npm', words, { cwd: cache, stdio: ['ignore', 2, 2], timeout: 600_000 });
  return status === 0 ? null : `npm could not install ${packages.join(', ')}`;
}

function isInstalled(spec) {
  const [name, version] = spec.split('@');
  const path = join(modules, name, 'package.json');
  return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).version === version;
}

/** Of the package for this machine: the one called `bun` is empty as long as its script has not run. */
function bunFolder() {
  const [own] = readdirSync(join(modules, '@oven'));
  return join(modules, '@oven', own, 'bin');
}
