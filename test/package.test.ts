import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Manifest = {
  version: string;
  engines: Record<string, string>;
  bin: Record<string, string>;
  scripts: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies: Record<string, string>;
};
type LockedPackage = {
  resolved?: string;
  link?: boolean;
  integrity?: string;
  optionalDependencies?: Record<string, string>;
};
type Packed = { filename: string; files: { path: string }[] };

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('package.json', () => {
  it('pins every dependency to one version', () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('needs nothing at run time and runs nothing when installed', () => {
    expect(manifest.dependencies ?? {}).toEqual({});
    const lifecycle = /^(pre|post)?(install|prepare|publish|pack|uninstall)$|^prepublishOnly$|^dependencies$/;
    expect(Object.keys(manifest.scripts).filter((name) => lifecycle.test(name))).toEqual([]);
  });

  it('has the commands and the oldest node that works', () => {
    expect(Object.keys(manifest.bin)).toEqual(['ralph', 'swarm', 'ralph-fake-agent']);
    expect(manifest.engines).toEqual({ node: '>=20.19' });
  });

  it('has a lock file with a checksum for each package of each platform, and no address', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const { '': own, 'packages/guard': guard, ...locked }: Record<string, LockedPackage> = lock.packages;
    const { 'node_modules/ralphkit-guard': link, ...packages } = locked;
    expect([guard, link]).toMatchObject([{ version: '0.1.0' }, { resolved: 'packages/guard', link: true }]);
    expect(own).toMatchObject({ version: manifest.version, devDependencies: manifest.devDependencies });
    expect(Object.entries(packages).filter(([, { integrity }]) => !integrity)).toEqual([]);
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved)).toEqual([]);
    // npm ci refuses a lock file that leaves out the optional packages of other platforms.
    const optional = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );
    expect(optional.filter((name) => !packages[`node_modules/${name}`])).toEqual([]);
  });
});

describe('the package', () => {
  let folder: string;
  let packed: Packed;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'package-'));
    const output = run(root, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
    [packed] = JSON.parse(output);
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
    const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
    run(folder, 'npm', 'install', ...quiet, join(folder, packed.filename));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('contains the build and the pages, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'dist/ralph.cjs',
      'dist/swarm.cjs',
      'dist/fake-agent.cjs',
      'dist/lib/index.js',
      'dist/lib/testkit.js',
      'dist/types/index.d.ts',
      'dist/types/testkit/index.d.ts',
    ];
    expect(paths).toEqual(expect.arrayContaining(expected));
    const wanted = /^(dist|docs|plugins)\/|^(CHANGELOG\.md|LICENSE|README\.md|package\.json)$/;
    const unwanted = /(^|\/)(src|test|fixtures)\/|\.test\.(?!txt$)|\.map$|\.ndjson$|(?<!\.d)\.ts$/;
    expect(paths.filter((path) => !wanted.test(path) || unwanted.test(path))).toEqual([]);
  });

  it('installs alone', () => {
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/ralphkit']);
  });

  it.each(['ralph', 'swarm'])('brings a %s that works', (name) => {
    expect(run(folder, join(folder, 'node_modules/.bin', name), '--version').trim()).toContain(
      manifest.version,
    );
  });

  it('brings the clients of a cluster along, with their licences', () => {
    const words = [join(folder, 'node_modules/.bin/swarm'), 'ls', '--cluster'];
    const url = 'redis://127.0.0.1:1/0';
    const { stderr } = spawnSync(process.execPath, [...words, url], { cwd: folder, encoding: 'utf8' });
    expect(stderr).toContain(`cannot work with ${url}: connect ECONNREFUSED`);
    const licences = readFileSync(join(folder, 'node_modules/ralphkit/dist/LICENSES.txt'), 'utf8');
    for (const name of ['bullmq', 'ioredis']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  it('brings each command as an executable file', () => {
    for (const path of Object.values(manifest.bin)) {
      const file = join(folder, 'node_modules/ralphkit', path);
      expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(statSync(file).mode & 0o111).toBe(0o111);
    }
  });

  it.each([
    ['ralphkit', 'RalphError'],
    ['ralphkit', 'checkCommand'],
    ['ralphkit/testkit', 'installFakeAgent'],
    ['ralphkit/opencode', 'RalphLoop'],
  ])('can be imported as %s', (name, exported) => {
    const script = `import * as all from '${name}'; console.log(Object.keys(all).join(' '));`;
    const names = run(folder, process.execPath, '--input-type=module', '--eval', script).trim().split(' ');
    expect(names).toContain(exported);
    expect(names).not.toContain('default');
  });

  it('brings the guard as a library, which is loaded when it is asked', () => {
    const script = `import { checkCommand, checkToolCall } from 'ralphkit';
      const verdicts = [
        await checkCommand('git push --force'),
        await checkCommand('npm test'),
        await checkCommand('if (', { unattended: false }),
        await checkToolCall('Write', { file_path: '/home/dev/.bashrc' }, { cwd: '/srv', env: { HOME: '/home/dev' } }),
      ];
      console.log(JSON.stringify(verdicts));`;
    const verdicts = JSON.parse(run(folder, process.execPath, '--input-type=module', '--eval', script));
    expect(verdicts).toMatchObject([
      { verdict: 'deny', category: 'git', reason: expect.any(String) },
      { verdict: 'allow', category: null, reason: null },
      { verdict: 'warn', category: 'unparsable' },
      { verdict: 'deny', category: 'persistence' },
    ]);
    const door = readFileSync(join(folder, 'node_modules/ralphkit/dist/lib/index.js'), 'utf8');
    expect(door.length).toBeLessThan(120_000);
  });

  it('has types that a strict program compiles against', () => {
    writeFileSync(
      join(folder, 'consumer.ts'),
      `import { checkCommand, type GuardVerdict, RalphError } from 'ralphkit';
import { createFakeClock, installFakeAgent } from 'ralphkit/testkit';

export const remedy: string | undefined = new RalphError('code', 'message').remedy;
export const verdict: Promise<GuardVerdict> = checkCommand('ls', { cwd: '/', unattended: true });
export const now: number = createFakeClock().now();
export const install: (dir: string, options: never) => unknown = installFakeAgent;
// @ts-expect-error the types are there: a function is no number
export const wrong: number = installFakeAgent;
`,
    );
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2022',
      lib: ['es2023'],
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['consumer.ts'] }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(run(folder, process.execPath, tsc, '-p', folder)).toBe('');
  });
});

/** Runs a program and returns what it printed; when it fails, the message has both streams. */
function run(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error)) throw error;
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  }
}
