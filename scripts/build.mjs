// Builds dist/: the programs, the commands that they load, the library with its types, and the JSON Schema of the settings.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { bundle } from './bundle.mjs';
import { writeHooks } from './hooks.mjs';
import { loadSource } from './load-source.mjs';
import { settingsJsonSchema } from './settings-json-schema.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dist = join(root, 'dist');
const guard = join(root, 'packages/guard');
const shared = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Packages of this repository are taken from their source.
  conditions: ['source'],
  define: { __VERSION__: JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
  external: [
    // Optional: only who wants telemetry installs it.
    '@opentelemetry/*',
    // Optional for BullMQ and ioredis, which find that it is not there and do without.
    ...['pg', 'msgpackr-extract', '@valkey/valkey-glide', 'redis', '@redis/client', 'bullmq-otel'],
  ],
};

for (const folder of [dist, join(guard, 'dist')]) rmSync(folder, { recursive: true, force: true });
await buildGuard();
await buildHelp();
const bundled = [...(await buildPrograms()), ...(await buildPage())];
writeFileSync(join(dist, 'LICENSES.txt'), licencesOf(bundled));
await buildSettingsSchema();
buildTypes();
await writeHooks(root);
await buildLibrary(); // Last: `scripts/setup.mjs` takes dist/lib/index.js as the sign of a whole build.

/** The guard as a package of its own: its command, its library and its types. */
async function buildGuard() {
  const manifest = JSON.parse(readFileSync(join(guard, 'package.json'), 'utf8'));
  const options = { define: { __VERSION__: JSON.stringify(manifest.version) }, minify: true };
  const outdir = 'packages/guard/dist';
  const { files } = await bundle({
    root,
    entryPoints: { guard: 'packages/guard/src/guard.ts' },
    outdir,
    options,
  });
  mkdirSync(join(guard, 'dist'), { recursive: true });
  for (const { path, contents } of files) writeFileSync(path, contents, { mode: 0o755 });
  await esbuild.build({ ...shared, entryPoints: { index: 'packages/guard/src/index.ts' }, outdir });
  writeTypes(guard);
}

/** A page for each command, so that `ralph run --help` reads one small file and nothing else. */
async function buildHelp() {
  const { helpPages } = await loadSource(root, ['src/cli/kernel/help-pages.ts']);
  mkdirSync(join(dist, 'help'), { recursive: true });
  for (const [words, page] of helpPages)
    writeFileSync(join(dist, 'help', `${words.replaceAll(' ', '.')}.txt`), page);
}

/** The programs. `ralph` and `swarm` are tiny files, which load what they need from dist/commands. Returns the sources. */
async function buildPrograms() {
  const options = {
    define: { ...shared.define, 'import.meta.dirname': '__dirname' },
    external: shared.external,
    minify: true,
  };
  const entryPoints = {
    ralph: 'src/cli/ralph/ralph.ts',
    swarm: 'src/cli/swarm/swarm.ts',
    'fake-agent': 'src/testkit/fake-agent.ts',
    'sandbox-inner': 'src/cli/ralph/sandbox-inner.ts',
  };
  const loopDriver = { 'loop-driver': 'src/cli/swarm/loop-driver.ts' };
  const results = [
    await bundle({ root, entryPoints, outdir: 'dist', onDemand: 'commands', options }),
    await bundle({ root, entryPoints: loopDriver, outdir: 'dist/commands', options }),
  ];
  mkdirSync(join(dist, 'commands'), { recursive: true });
  for (const { path, contents } of results.flatMap(({ files }) => files)) writeFileSync(path, contents);
  for (const name of ['ralph', 'swarm', 'fake-agent']) chmodSync(join(dist, `${name}.cjs`), 0o755);
  return results.flatMap(({ inputs }) => inputs);
}

/** The licence of every package that was bundled. */
function licencesOf(files) {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const {
        name,
        version: found,
        license,
      } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((entry) => /^licen[sc]e/i.test(entry));
      const text =
        file === undefined ? `Licence: ${license}` : readFileSync(join(root, folder, file), 'utf8').trim();
      return `${name} ${found}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The page of the dashboard, which a report carries in one file, too. Returns the sources. */
async function buildPage() {
  const folder = join(root, 'src/show/web/page');
  const outdir = join(dist, 'web');
  const pageOptions = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
  };
  const entry = join(folder, 'main.tsx');
  // The server gives out what a view needs when it is opened; a report is one file.
  const { metafile } = await esbuild.build({ ...pageOptions, entryPoints: { app: entry }, splitting: true });
  await esbuild.build({ ...pageOptions, entryPoints: { whole: entry } });
  const { code } = await esbuild.transform(
    ['style.css', 'views.css'].map((name) => readFileSync(join(folder, name), 'utf8')).join(''),
    {
      loader: 'css',
      minify: true,
      target: ['chrome123', 'firefox121', 'safari17.5'],
    },
  );
  writeFileSync(join(outdir, 'app.css'), code);
  writeFileSync(join(outdir, 'index.html'), readFileSync(join(folder, 'index.html')));
  return Object.keys(metafile.inputs);
}

async function buildLibrary() {
  // One file with nothing beside it: people copy it into .opencode/plugins.
  await esbuild.build({
    ...shared,
    splitting: false,
    entryPoints: {
      opencode: 'src/drive/embed/opencode/index.ts',
      'opencode-guard': 'src/drive/embed/opencode/guard-plugin.ts',
    },
    outdir: 'dist/lib',
  });
  await esbuild.build({
    ...shared,
    entryPoints: { index: 'src/index.ts', testkit: 'src/testkit/index.ts' },
    outdir: 'dist/lib',
  });
}

/** The types of the library, and in a folder beside them those of the guard, which is bundled. */
function buildTypes() {
  writeTypes(root);
  cpSync(join(guard, 'dist/types'), join(dist, 'types/guard'), { recursive: true });
}

function writeTypes(folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: folder, stdio: 'inherit' });
  const types = join(folder, 'dist/types');
  for (const name of readdirSync(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(types, name);
    const bundled = `from './${relative(dirname(path), join(types, 'guard/index.js'))}'`;
    const text = readFileSync(path, 'utf8').replace(/(from ['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2');
    writeFileSync(path, text.replaceAll("from 'ralphkit-guard'", bundled));
  }
}

/** The JSON Schema that editors read, from the schema that checks the settings. */
async function buildSettingsSchema() {
  const { settingsSchema } = await loadSource(root, ['src/config/settings-schema.ts']);
  const schema = settingsJsonSchema(settingsSchema);
  writeFileSync(join(dist, 'settings.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
}
