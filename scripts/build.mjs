// Builds dist/: the commands as small CommonJS files with lazily loaded chunks, the library as ESM with types, and the
// JSON Schema of the settings.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { withHash } from './code-hash.mjs';
import { writeHooks } from './hooks.mjs';
import { settingsJsonSchema } from './settings-json-schema.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dist = join(root, 'dist');
const shared = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  define: { __VERSION__: JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
  // Optional: only who wants telemetry installs it.
  external: ['@opentelemetry/*'],
};

/** CommonJS has no import.meta.url. */
const ownUrl = "const __url=require('node:url').pathToFileURL(__filename).href;";

/** Brings the clients of databases along: one file that only a command about a cluster loads. */
const stores = 'stores';

/** What turns bundled code into CommonJS that starts fast. */
const commonJs = {
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  define: { ...shared.define, 'import.meta.url': '__url' },
  supported: { 'dynamic-import': false },
  minifyWhitespace: true,
};

/** Commands that people wait for: each in one file, because to load thirty chunks takes longer. */
const whole = ['run', 'guard-check', 'swarm-ls', 'swarm-status'];

rmSync(dist, { recursive: true, force: true });
await buildHelp();
await buildPrograms(await buildCommands());
await buildWhole();
await buildPage();
await buildSettingsSchema();
buildTypes();
await writeHooks(root);
await buildLibrary(); // Last: `scripts/setup.mjs` takes dist/lib/index.js as the sign of a whole build.

/** A page for each command, so that `ralph run --help` reads one small file and nothing else. */
async function buildHelp() {
  const { helpPages } = await loadModule('src/cli/help-pages.ts');
  mkdirSync(join(dist, 'help'), { recursive: true });
  for (const [words, page] of helpPages)
    writeFileSync(join(dist, 'help', `${words.replaceAll(' ', '.')}.txt`), page);
}

/**
 * Node starts CommonJS faster than ESM, but esbuild splits only ESM: so split first, then turn each file into CommonJS.
 * Gives the file of each command by its source.
 */
async function buildCommands() {
  const { outputFiles, metafile } = await esbuild.build({
    ...shared,
    entryPoints: {
      'start-ralph': 'src/cli/start-ralph.ts',
      'start-swarm': 'src/cli/start-swarm.ts',
      'fake-agent': 'src/testkit/fake-agent.ts',
    },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    metafile: true,
    plugins: [lazyParts((name) => (whole.includes(name) ? `../${name}.cjs` : storesPlace(name, '..')))],
  });
  for (const { path, text } of outputFiles) {
    const { code } = await esbuild.transform(text, commonJs);
    writeCode(path, code);
  }
  chmodSync(join(dist, 'fake-agent.cjs'), 0o755);
  const entries = Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [entryPoint, path]);
  return new Map(entries.filter(([entryPoint]) => entryPoint !== undefined));
}

/** The two programs, each with its table of commands beside it in one file. */
async function buildPrograms(commands) {
  const fileOf = (name, path) =>
    whole.includes(name) ? `./${name}.cjs` : `./${relative('dist', commands.get(relative(root, path)))}`;
  await bundle({ 'start-ralph': 'src/cli/start-ralph.ts', 'start-swarm': 'src/cli/start-swarm.ts' }, 'dist', [
    lazyParts(fileOf),
  ]);
  await bundle({ ralph: 'src/cli/ralph.ts', swarm: 'src/cli/swarm.ts' }, 'dist', [
    lazyParts((name) => `./${name}.cjs`),
  ]);
  for (const name of ['ralph', 'swarm']) chmodSync(join(dist, `${name}.cjs`), 0o755);
}

/** The way to the first start of an agent is one file: thirty chunks cost more than reading some code twice. */
async function buildWhole() {
  const parts = new Map();
  const keep = (name, path) => {
    const place = storesPlace(name, '.');
    if (place !== null) return place;
    parts.set(name, path);
    return `./parts/${name}.cjs`;
  };
  await bundle(Object.fromEntries(whole.map((name) => [name, `src/cli/${name}.ts`])), 'dist', [
    lazyParts(keep),
  ]);
  await bundle(Object.fromEntries(parts), 'dist/parts', [lazyParts((name) => storesPlace(name, '..'))]);
  await buildStores();
  // One file with nothing beside it: only this one is seen inside a sandbox.
  await bundle({ 'sandbox-inner': 'src/cli/sandbox-inner.ts' }, 'dist', []);
  await bundle({ 'loop-runner': 'src/cli/loop-runner.ts' }, 'dist/parts', []);
}

/** Each entry point as one file of CommonJS. */
async function bundle(entryPoints, outdir, plugins, more = {}) {
  const { outputFiles, metafile } = await esbuild.build({
    ...shared,
    ...commonJs,
    ...more,
    entryPoints,
    outdir,
    plugins,
    splitting: false,
    outExtension: { '.js': '.cjs' },
    minifySyntax: true,
    write: false,
  });
  for (const { path, text } of outputFiles) writeCode(path, text);
  return metafile;
}

/** To put each function of a module of Node behind a getter, as esbuild does, takes milliseconds. */
function writeCode(path, text) {
  const plain = text.replaceAll(/__toESM\((require\("node:[a-z_/]+"\))(?:,1)?\)/g, '$1');
  const code = plain.includes('__url') ? plain.replace(/^(#!.*\n)?/, `$1${ownUrl}`) : plain;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code.startsWith('#!') ? code : withHash(code));
}

/** Where the stores stand, seen from a folder of dist; null for anything else. */
function storesPlace(name, from) {
  return name === stores ? `${from}/stores/${stores}.cjs` : null;
}

/** What is optional in the clients is left out: they find that it is not there, and go on. */
async function buildStores() {
  const optional = [
    'pg-native',
    'msgpackr-extract',
    '@valkey/valkey-glide',
    'redis',
    '@redis/client',
    'bullmq-otel',
  ];
  const { inputs } = await bundle({ [stores]: 'src/cluster/stores.ts' }, 'dist/stores', [], {
    external: optional,
    metafile: true,
  });
  writeFileSync(join(dist, 'stores', 'LICENSES.txt'), licencesOf(Object.keys(inputs)));
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

/** Leaves what is imported on demand where `place` says, by its name and path; null bundles it as usual. */
function lazyParts(place) {
  return {
    name: 'lazy-parts',
    setup: (build) =>
      build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const found = place(basename(path, '.ts'), join(resolveDir, path));
        return found === null ? undefined : { path: found, external: true };
      }),
  };
}

/** The page of the dashboard, which a report carries in one file, too. */
async function buildPage() {
  const folder = join(root, 'src/dashboard/web');
  const outdir = join(dist, 'web');
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { app: join(folder, 'main.ts') },
    outdir,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  const { code } = await esbuild.transform(readFileSync(join(folder, 'style.css'), 'utf8'), {
    loader: 'css',
    minify: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
  });
  writeFileSync(join(outdir, 'app.css'), code);
  writeFileSync(join(outdir, 'index.html'), readFileSync(join(folder, 'index.html')));
}

async function buildLibrary() {
  // One file with nothing beside it: people copy it into .opencode/plugins.
  await esbuild.build({
    ...shared,
    splitting: false,
    entryPoints: {
      opencode: 'src/session/hosts/opencode/index.ts',
      'opencode-guard': 'src/session/hosts/opencode/guard-plugin.ts',
    },
    outdir: 'dist/lib',
  });
  await esbuild.build({
    ...shared,
    entryPoints: { index: 'src/index.ts', testkit: 'src/testkit/index.ts' },
    outdir: 'dist/lib',
  });
}

function buildTypes() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' });
  for (const name of readdirSync(join(dist, 'types'), { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(dist, 'types', name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(from ['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
}

/** The JSON Schema that editors read, from the schema that checks the settings. */
async function buildSettingsSchema() {
  const { settingsSchema } = await loadModule('src/store/settings-schema.ts');
  const schema = settingsJsonSchema(settingsSchema);
  writeFileSync(join(dist, 'settings.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
}

/** What a module of the source exports. Commands that it would load later are left out. */
async function loadModule(entry) {
  const { outputFiles } = await esbuild.build({
    ...shared,
    splitting: false,
    entryPoints: [entry],
    outdir: 'dist',
    write: false,
    plugins: [lazyParts((name) => `./${name}.ts`)],
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
