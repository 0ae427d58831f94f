// The import rule of ARCHITECTURE.md as data: a layer may import the layers before it, never one beside or after it.
const layers = [
  ['core'],
  ['agents'],
  ['system'],
  ['store'],
  ['safety'],
  ['loop', 'session'],
  ['prd', 'fleet'],
  ['cluster'],
  ['view'],
  ['dashboard'],
  ['cli'],
];

// The test kit stands beside the layers: it may use all of them but cli, and only cli, tests and src/index.ts use it.
const kit = 'testkit';
const tests = String.raw`\.test\.ts$|/(contract|expected)\.ts$`;

const names = layers.flat();
const inside = (folders) => `^src/(${folders.join('|')})/`;

/** What a layer may not import. */
function beyond(index, name) {
  const later = layers.slice(index).flat();
  return later.filter((other) => other !== name);
}

const layerRules = layers.flatMap((layer, index) =>
  layer
    .map((name) => ({ name, forbidden: beyond(index, name) }))
    .filter(({ forbidden }) => forbidden.length > 0)
    .map(({ name, forbidden }) => ({
      name: `${name}-imports-only-what-is-before-it`,
      severity: 'error',
      from: { path: inside([name]) },
      to: { path: inside(forbidden) },
    })),
);

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'the-test-kit-is-for-tests',
      severity: 'error',
      from: { path: inside(names.filter((name) => name !== 'cli')), pathNot: tests },
      to: { path: inside([kit]) },
    },
    {
      name: 'only-cli-composes',
      severity: 'error',
      from: { path: [inside([kit]), '^src/index\\.ts$'] },
      to: { path: inside(['cli']) },
    },
    {
      name: 'the-door-is-for-users',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: '^src/index\\.ts$' },
    },
    {
      name: 'every-file-has-its-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: [inside([...names, kit]), '^src/index\\.ts$'] },
      to: {},
    },
    {
      name: 'core-and-agents-are-pure',
      severity: 'error',
      from: { path: inside(['core', 'agents']), pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'processes-start-in-one-file',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/system/process\\.ts$', inside([kit]), tests] },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'files-are-touched-in-system-and-store',
      severity: 'error',
      from: { path: '^src/', pathNot: [inside(['system', 'store', kit]), tests] },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
