// What `npm run demo`, `npm test` and the rest need first: installed packages and a fresh build. Does only what is stale.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installSystemPackages } from './system-packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (process.argv.includes('--test')) installSystemPackages();
if (olderThan('node_modules/.package-lock.json', ['package-lock.json'])) {
  const words = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  step('installing packages', npm(), words);
}
if (olderThan('dist/lib/index.js', ['src', 'packages/guard/src', 'plugins', 'scripts', 'package.json'])) {
  step('building', [process.execPath], ['scripts/build.mjs']);
}

function step(what, [command, ...first], args) {
  process.stderr.write(`${what}...\n`);
  const { status } = spawnSync(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  process.stderr.write(`${what} failed: run \`${[command, ...first, ...args].join(' ')}\` to see why\n`);
  process.exit(1);
}

/** npm as a script for node: on Windows, npm itself is a batch file, which only a shell can start. */
function npm() {
  const beside = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const script = [process.env.npm_execpath ?? '', beside].find(
    (path) => path.endsWith('npm-cli.js') && existsSync(path),
  );
  return script ? [process.execPath, script] : ['npm'];
}

function olderThan(made, sources) {
  const path = join(root, made);
  if (!existsSync(path)) return true;
  const time = statSync(path).mtimeMs;
  return sources.some((source) => newest(join(root, source)) > time);
}

function newest(path) {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
