// The import rule of ARCHITECTURE.md as data: a room may import the rooms before it, never one after it.
const rooms = [
  'core',
  'agents',
  'os',
  'config',
  'journal',
  'sandbox',
  'drive',
  'fleet',
  'cluster',
  'show',
  'cli',
];

// The test kit stands beside the rooms: it may use all of them but cli, and only cli, tests and src/index.ts use it.
const kit = 'testkit';
const tests = String.raw`\.test\.ts$|/contract\.ts$`;

/** What the rest may import of packages/guard: `ralphkit-guard`, its command for `ralph guard`, the project of a folder, and the names of secrets. */
const guardDoor = String.raw`^packages/guard/src/(index|command|project|secret-names)\.ts$`;
const guardTests = '^packages/guard/test/';

const inside = (folders) => `^src/(${folders.join('|')})/`;

const roomRules = rooms.slice(0, -1).map((name, index) => ({
  name: `${name}-imports-only-what-is-before-it`,
  severity: 'error',
  from: { path: inside([name]) },
  to: { path: inside(rooms.slice(index + 1)) },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'the-test-kit-is-for-tests',
      severity: 'error',
      from: { path: inside(rooms.filter((name) => name !== 'cli')), pathNot: tests },
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
      name: 'every-file-has-its-room',
      severity: 'error',
      from: { path: '^src/', pathNot: [inside([...rooms, kit]), '^src/index\\.ts$'] },
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
      from: {
        path: '^(src|packages)/',
        pathNot: ['^src/os/process/spawn\\.ts$', inside([kit]), tests, guardTests],
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'files-are-touched-in-few-rooms',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [inside(['os', 'config', 'journal', kit]), tests],
      },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'the-guard-has-one-door',
      severity: 'error',
      from: { path: '^(src|test)/' },
      to: { path: '^packages/guard/', pathNot: guardDoor },
    },
    {
      name: 'the-guard-stands-alone',
      severity: 'error',
      from: { path: '^packages/guard/' },
      to: { path: '^(src|test)/' },
    },
    {
      name: 'the-guard-reads-files-in-few-places',
      severity: 'error',
      from: {
        path: '^packages/guard/src/',
        pathNot: [String.raw`/(command|real-path|rules-file)\.ts$`, tests],
      },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default'],
    },
    exclude: { path: '^packages/[^/]+/dist/' },
  },
};
