// The guard as files that its hook loads one by one: to compile all rules takes longer than to judge a command. What
// every judgement needs is guard-rules.cjs; the rules of a program are loaded when it is called.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as esbuild from 'esbuild';

const guard = 'src/safety/guard';
const table = `${guard}/commands/all.ts`;
/** Sources that few commands need, by the file that holds them. The rules call only functions of them. */
const seldom = {
  parser: ['unbash', `${guard}/compound.ts`, `${guard}/expand-parts.ts`],
  policy: [`${guard}/policy.ts`],
  variables: [`${guard}/commands/variables.ts`],
};

/** The files as esbuild makes them, with these options. */
export async function guardParts(root, options) {
  const groups = await groupsIn(root);
  const shared = { ...options, absWorkingDir: root, write: false, metafile: true };
  const make = (name, contents, plugins) =>
    esbuild.build({
      ...shared,
      stdin: { contents, resolveDir: root },
      outfile: `guard-${name}.cjs`,
      plugins,
    });
  const rulesWith = (exported) =>
    make(
      'rules',
      exporting(
        root,
        [`${guard}/hook.ts`, ['guardHook', 'placeOf']],
        [`${guard}/judge.ts`, ['judgeCommand']],
        ...exported,
      ),
      [loadedLater(root, groups)],
    );

  const core = new Set(sourcesOf(await rulesWith([])));
  const later = {
    ...seldom,
    ...Object.fromEntries(Object.keys(groups).map((name) => [name, [fileOf(name)]])),
  };
  const parts = await Promise.all(
    Object.entries(later).map(([name, sources]) =>
      make(name, exporting(root, ...sources.map((source) => [source, exportsOf(root, source)])), [
        fromRules(root, core),
      ]),
    ),
  );
  const rules = await rulesWith(importedFrom(root, core, parts.flatMap(sourcesOf)));
  return [rules, ...parts].flatMap(({ outputFiles }) => outputFiles);
}

function fileOf(group) {
  return `${guard}/commands/${group}.ts`;
}

function sourcesOf({ metafile }) {
  return Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'));
}

/** A module with these names of these sources as plain properties: getters, as esbuild makes them, cost time. */
function exporting(root, ...sources) {
  const from = (source) => (source.endsWith('.ts') ? join(root, source) : source);
  const lines = sources.map(
    ([source, names]) => `import { ${names.join(', ')} } from ${JSON.stringify(from(source))};`,
  );
  return [...lines, `module.exports = { ${sources.flatMap(([, names]) => names).join(', ')} };`].join('\n');
}

/** What a source exports; of the parser only its main function is used. */
function exportsOf(root, source) {
  if (!source.endsWith('.ts')) return ['parse'];
  const text = readFileSync(join(root, source), 'utf8');
  return [...text.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name);
}

/** The exports of the core that the other sources import. */
function importedFrom(root, core, files) {
  const found = new Map();
  for (const file of files.filter((path) => !core.has(path))) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, list, path] of text.matchAll(/^import \{([^}]*)\} from '(\.[^']*)';$/gm)) {
      const source = join(dirname(file), path).replaceAll('\\', '/');
      const names = list.split(',').map((name) => name.trim());
      const values = names.filter((name) => name !== '' && !name.startsWith('type '));
      if (core.has(source)) found.set(source, new Set([...(found.get(source) ?? []), ...values]));
    }
  }
  return [...found].map(([source, names]) => [source, [...names]]);
}

/** Every group of programs, from the table itself. */
async function groupsIn(root) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [table],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const { groups } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return groups;
}

/** In the rules: functions that load the file of what they stand for, instead of the thing itself. */
function loadedLater(root, groups) {
  // Only where there is no HOME does anybody ask the system for one.
  const home = `export const homedir = () => require('node:os').homedir();`;
  const stubs = new Map([
    [table, tableOf(groups)],
    ['node:os', home],
  ]);
  for (const [part, sources] of Object.entries(seldom))
    for (const source of sources) stubs.set(source, functionsOf(part, exportsOf(root, source)));
  return {
    name: 'loaded-later',
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path, resolveDir, namespace }) => {
        if (namespace === 'later') return { path, external: true };
        const source = sourceAt(root, path, resolveDir);
        return stubs.has(source) ? { path: source, namespace: 'later' } : undefined;
      });
      build.onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({ contents: stubs.get(path) }));
    },
  };
}

function functionsOf(part, names) {
  return names
    .map(
      (name) =>
        `export const ${name} = (...words) => module.require('./guard-${part}.cjs').${name}(...words);`,
    )
    .join('\n');
}

/** Which file knows a program. One text for each file: to look through them takes less time than to read a table. */
function tableOf(groups) {
  const owners = new Map(
    Object.entries(groups).flatMap(([group, known]) => Object.keys(known).map((program) => [program, group])),
  );
  const names = (group) => [...owners].filter(([, owner]) => owner === group).map(([name]) => `${name}\n`);
  const lists = Object.fromEntries(Object.keys(groups).map((group) => [group, `\n${names(group).join('')}`]));
  return `
    const lists = ${JSON.stringify(lists)};
    const handlers = new Map();
    export function handlerOf(name) {
      if (!handlers.has(name)) handlers.set(name, find(name));
      return handlers.get(name);
    }
    function find(name) {
      if (name === '' || name.includes('\\n')) return undefined;
      for (const group in lists)
        if (lists[group].includes('\\n' + name + '\\n')) return module.require('./guard-' + group + '.cjs')[group][name];
    }
    export const programNames = () => Object.values(lists).join('').split('\\n').filter(Boolean);
  `;
}

/** In the other files: what the rules hold already is taken from there. */
function fromRules(root, core) {
  return {
    name: 'from-rules',
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path, resolveDir }) =>
        core.has(sourceAt(root, path, resolveDir))
          ? { path: './guard-rules.cjs', external: true }
          : undefined,
      );
    },
  };
}

function sourceAt(root, path, folder) {
  if (!/^[./]/.test(path)) return path;
  return relative(root, path.startsWith('.') ? join(folder, path) : path).replaceAll('\\', '/');
}
