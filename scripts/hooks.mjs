// Builds what is generated in plugins/claude-code, whose hooks serve all hosts. It is checked in, so that the plugin runs
// from a plain copy of the repository. `node scripts/hooks.mjs` writes it; a check compares.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { loadSource } from './load-source.mjs';

const plugin = 'plugins/claude-code';
const generated = `${plugin}/hooks/generated`;
const names = ['stop', 'prompt', 'session-start', 'context', 'interrupt', 'guard'];

/** The generated files as they should be: path in the repository to content. */
async function hookFiles(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { files } = await bundle({
    root,
    entryPoints: {
      ...Object.fromEntries(names.map((name) => [name, `src/drive/hook/entries/${name}.ts`])),
      // What the scripts of the plugin start, and what starts first in its sandbox.
      prd: 'src/cli/prd/plugin.ts',
      'sandbox-inner': 'src/cli/ralph/sandbox-inner.ts',
    },
    outdir: generated,
    options: {
      define: { __VERSION__: JSON.stringify(version), 'import.meta.dirname': '__dirname' },
      external: ['@opentelemetry/*'],
      minify: true,
    },
  });
  const manifest = `${plugin}/.claude-plugin/plugin.json`;
  return new Map([
    ...files.map(({ path, text }) => [relative(root, path), text]),
    [`${plugin}/hooks/hooks.json`, json(await hooksJson(root))],
    // Claude Code reads the skill in its folder; others look for it under this name.
    [
      `${plugin}/skills/ralph-plan.md`,
      readFileSync(join(root, plugin, 'skills/ralph-plan/SKILL.md'), 'utf8'),
    ],
    [manifest, json({ ...JSON.parse(readFileSync(join(root, manifest), 'utf8')), version })],
  ]);
}

/** The settings of the plugin, from the table that `ralph install claude` uses too. */
async function hooksJson(root) {
  const { hooks, commandHooks } = await loadSource(root, [
    'src/agents/claude/hooks.ts',
    'src/drive/hook/settings.ts',
  ]);
  return {
    description: 'Loops that keep this session working until its task is really done',
    hooks: commandHooks(hooks.events, (event) => `/bin/sh "\${CLAUDE_PLUGIN_ROOT}/hooks/gate.sh" ${event}`),
  };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export async function writeHooks(root) {
  const files = await hookFiles(root);
  rmSync(join(root, generated), { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** The names of those that are not as a fresh build makes them, and of those that it would not make. */
export async function staleHooks(root) {
  const files = await hookFiles(root);
  const folder = join(root, generated);
  const others = existsSync(folder) ? readdirSync(folder).map((name) => `${generated}/${name}`) : [];
  return [...new Set([...files.keys(), ...others])].filter(
    (path) => read(join(root, path)) !== files.get(path),
  );
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeHooks(join(dirname(fileURLToPath(import.meta.url)), '..'));
}
