// What nothing uses: files, exports, dependencies. `npm run check` asks twice. With the tests, every export must have an
// importer; without them (--production), every export must have a user in the source: code that only its test needs is dead.
const programs = [
  'src/cli/{ralph/{ralph,sandbox-inner},swarm/{swarm,loop-driver}}.ts',
  'src/testkit/fake-agent.ts',
  'src/drive/hook/entries/*.ts',
  'src/cli/prd/plugin.ts',
  'src/drive/embed/opencode/guard-plugin.ts',
  'src/show/web/page/main.tsx',
];
const doors = ['src/index.ts', 'src/testkit/index.ts', 'src/drive/embed/opencode/index.ts'];
/** Loaded by path: see scripts/load-source.mjs. */
const readByScripts = ['src/cli/kernel/help-pages.ts', 'src/journal/events.ts'];
/** Stands in src, but only tests use it. */
const testSupport = ['src/**/{*.test,contract,examples}.ts'];

export default ({ production = false }) => ({
  workspaces: {
    '.': {
      entry: [
        ...[...programs, ...doors, ...readByScripts].map((path) => `${path}!`),
        'scripts/*.mjs',
        'bench/*.mjs',
        'bench/support/cluster-orders.mjs',
      ],
      project: [
        'src/**/*.{ts,tsx}!',
        ...testSupport.map((path) => `!${path}!`),
        '{test,bench,scripts}/**/*.{ts,mjs}',
      ],
    },
    'packages/guard': {
      entry: ['src/{index,command,guard}.ts!', 'test/*.test.ts'],
      project: ['src/**/*.ts!', '!src/**/*.test.ts!', 'test/**/*.ts'],
    },
  },
  ignoreExportsUsedInFile: production,
  exclude: ['binaries'],
  // At home in another place: see test/agents/made-up.test.ts.
  ignore: ['test/agents/made-up/folder/**'],
  // Started, or read, by their path.
  ignoreDependencies: ['axe-core', 'dependency-cruiser'],
  // It takes `setup.mjs --test` for a test runner, and all of test/ for tests.
  node: false,
});
