// Builds the hooks of plugins/: one CommonJS file for each entry, checked in, so that they run from a plain copy of the
// repository. `node scripts/hooks.mjs` writes them; a check compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { withHash } from './code-hash.mjs';
import { guardParts } from './guard-parts.mjs';

const hooks = {
  'claude-code': ['stop', 'prompt', 'session-start', 'context-monitor'],
  codex: ['stop', 'prompt', 'session-start', 'interrupt'],
  gemini: ['stop', 'prompt', 'session-start'],
};

const entries = {
  ...Object.fromEntries(
    Object.entries(hooks).flatMap(([host, names]) => [
      ...names.map((name) => [
        `${host}/hooks/${name === 'stop' ? 'stop-main' : name}`,
        `src/session/hosts/${host}/entries/${name}.ts`,
      ]),
      [`${host}/hooks/stop`, 'src/session/hook/stop-entry.ts'],
      [`${host}/hooks/verify`, 'src/session/verify.ts'],
      [`${host}/hooks/notify-end`, 'src/session/notify-end.ts'],
      [`${host}/hooks/stop-check`, 'src/session/prd/stop-check.ts'],
    ]),
  ),
  // One guard serves all hosts.
  'claude-code/hooks/guard': 'src/safety/guard/hook-entry.ts',
  'claude-code/hooks/guard-denials': 'src/safety/guard/denials.ts',
};

/** What is seldom needed is a file of its own, which a hook loads when it needs it. */
const loadedLater = {
  name: 'loaded-later',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      const source = relative(build.initialOptions.absWorkingDir, join(resolveDir, path)).replaceAll(
        '\\',
        '/',
      );
      if (kind !== 'dynamic-import') return undefined;
      const [name] = Object.entries(entries).find(([, entry]) => entry === source) ?? [];
      return name === undefined ? undefined : { path: `./${basename(name)}.cjs`, external: true };
    });
    // Only where there is no HOME does anybody ask the system for one.
    build.onResolve({ filter: /^node:os$/ }, ({ path, importer }) =>
      importer.endsWith('paths.ts') ? { path, namespace: 'later' } : undefined,
    );
    build.onResolve({ filter: /./, namespace: 'later' }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: whenCalled(path, 'homedir'),
    }));
  },
};

/** A module whose functions load the real one when they are called. */
function whenCalled(path, ...names) {
  return names
    .map((name) => `export const ${name} = (...words) => require('${path}').${name}(...words);`)
    .join('\n');
}

/** The files of the plugin that are made, by their paths, as they should be. */
export async function hookFiles(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const shared = {
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    supported: { 'dynamic-import': false },
    define: { __VERSION__: JSON.stringify(version) },
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  };
  const result = await esbuild.build({
    ...shared,
    absWorkingDir: root,
    entryPoints: entries,
    outdir: 'plugins',
    outExtension: { '.js': '.cjs' },
    plugins: [loadedLater],
    write: false,
  });
  const parts = await guardParts(root, shared);
  const plugin = join(root, 'plugins/claude-code');
  const manifest = join(plugin, '.claude-plugin/plugin.json');
  return new Map([
    ...result.outputFiles.map(({ path, text }) => [path, withHash(plainRequires(text))]),
    ...parts.map(({ path, text }) => [join(plugin, 'hooks', basename(path)), withHash(plainRequires(text))]),
    [join(plugin, 'hooks/hooks.json'), json(await hooksJson(root))],
    // Claude Code reads the skill in its folder; others look for it under this name.
    [join(plugin, 'skills/ralph-plan.md'), readFileSync(join(plugin, 'skills/ralph-plan/SKILL.md'), 'utf8')],
    [manifest, json({ ...JSON.parse(readFileSync(manifest, 'utf8')), version })],
  ]);
}

/**
 * A module of Node is its own namespace: the copy that esbuild makes of it for every importer costs milliseconds. Those
 * that every hook has from its start on are asked for only once.
 */
function plainRequires(code) {
  const plain = code.replace(
    /(?<![\w$])[\w$]+\((require\("(?:node:[\w/]+|\.\/guard-rules\.cjs)"\))(?:,1)?\)/g,
    '$1',
  );
  const known = Object.entries({
    node_fs: 'node:fs',
    node_path: 'node:path',
    guard_rules: './guard-rules.cjs',
  });
  const repeated = known.filter(([, path]) => plain.split(`=require("${path}")`).length > 2);
  if (repeated.length === 0) return plain;
  const once = repeated.map(([name, path]) => `${name}=require("${path}")`).join(',');
  const rest = repeated.reduce(
    (text, [name, path]) => text.replaceAll(`=require("${path}")`, `=${name}`),
    plain,
  );
  return `"use strict";var ${once};${rest.replace(/^"use strict";/, '')}`;
}

/** The settings of the plugin, from the code that also installs them elsewhere. */
async function hooksJson(root) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['src/session/hosts/claude-code/settings.ts'],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const { hookSettings } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const description = 'Loops that keep this session working until its task is really done';
  return { description, hooks: hookSettings(`\${CLAUDE_PLUGIN_ROOT}/hooks`, 'linux') };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export async function writeHooks(root) {
  for (const [path, text] of await hookFiles(root)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The names of those that are not as a fresh build makes them. */
export async function staleHooks(root) {
  const stale = [];
  for (const [path, text] of await hookFiles(root)) {
    if (read(path) !== text) stale.push(relative(root, path));
  }
  return stale;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeHooks(join(dirname(fileURLToPath(import.meta.url)), '..'));
}
