// What `npm run demo`, `npm test` and the rest need first: installed packages and a fresh build. Does only what is stale.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (olderThan('node_modules/.package-lock.json', ['package-lock.json'])) {
  step('installing packages', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
}
if (olderThan('dist/lib/index.js', ['src', 'plugins', 'scripts/build.mjs', 'package.json'])) {
  step('building', process.execPath, ['scripts/build.mjs']);
}

function step(what, command, args) {
  process.stderr.write(`${what}...\n`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (status !== 0) {
    process.stderr.write(`${what} failed: run \`${[command, ...args].join(' ')}\` to see why\n`);
    process.exit(1);
  }
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
