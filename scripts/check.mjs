// The checks behind `npm run check`. `node scripts/check.mjs [name...] [--root DIR]` runs some of them, or elsewhere.
import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stalePages } from './docs.mjs';
import { staleHooks } from './hooks.mjs';
import { findBreaches } from './rooms.mjs';

const checks = {
  types: () => runTypes('.'),
  page: () => runTypes('src/show/web/page'),
  lint: () => run('@biomejs/biome/bin/biome', ['ci', '--error-on-warnings', '--colors=off', '.']),
  imports: () =>
    run('dependency-cruiser/bin/dependency-cruise.mjs', [
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'packages',
    ]),
  unused: () => runKnip(),
  dead: () => runKnip('--production'),
  rooms: async () => {
    const breaches = await findBreaches(root);
    return { ok: breaches.length === 0, output: breaches.join('\n') };
  },
  hooks: async () => reportStale(await staleHooks(root), 'scripts/hooks.mjs'),
  docs: () =>
    stalePages(root).then(
      (stale) => reportStale(stale, 'scripts/docs.mjs'),
      ({ message }) => ({ ok: false, output: message }),
    ),
};

const { values, positionals } = parseArgs({ options: { root: { type: 'string' } }, allowPositionals: true });
const root = resolve(values.root ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const names = positionals.length > 0 ? positionals : Object.keys(checks);
const unknown = names.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`no such check: ${unknown.join(', ')} (there are: ${Object.keys(checks).join(', ')})`);
  process.exit(2);
}

const failed = (await Promise.all(names.map(report))).filter((name) => name !== null);
console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs a check, prints how it went in one piece, and returns its name if it failed. */
async function report(name) {
  const start = performance.now();
  const { ok, output } = await checks[name]();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (!ok) console.log(`${output.replace(/^\n+|\s+$/g, '').replace(/^/gm, '  ')}\n`);
  return ok ? null : name;
}

function reportStale(paths, script) {
  const output = paths.map((path) => `${path} is stale: run node ${script}`).join('\n');
  return { ok: paths.length === 0, output };
}

function runTypes(project) {
  return run('typescript/bin/tsc', ['--noEmit', '--pretty', 'false', '-p', project]);
}

/** See knip.config.js for the two ways of asking. */
function runKnip(...args) {
  return run('knip/bin/knip.js', ['--no-progress', ...args]);
}

function run(program, args) {
  const child = spawn(process.execPath, [join(root, 'node_modules', program), ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ ok: code === 0, output: Buffer.concat(output).toString() }));
  });
}
