import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guard-package-'));
  const [{ filename }] = JSON.parse(run(root, 'npm', 'pack', '--json', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  run(folder, 'npm', 'install', ...quiet, join(folder, filename));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('installs alone', () => {
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/ralphkit-guard']);
  });

  it('has two functions at its door, and nothing else', () => {
    const script = `import * as all from 'ralphkit-guard';
      const { verdict } = await all.checkCommand('git push --force');
      console.log(JSON.stringify([...Object.keys(all), verdict]));`;
    const output = run(folder, process.execPath, '--input-type=module', '--eval', script);
    expect(JSON.parse(output)).toEqual(['checkCommand', 'checkToolCall', 'deny']);
    const command = "import('ralphkit-guard/command').catch(({ code }) => console.log(code))";
    expect(run(folder, process.execPath, '--eval', command)).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('brings a command that works', () => {
    const guard = join(folder, 'node_modules/.bin/guard');
    expect(run(folder, guard, 'check', 'npm test')).toBe('allow\n');
  });

  it('has types that a strict program compiles against', () => {
    writeFileSync(
      join(folder, 'consumer.ts'),
      `import { checkToolCall, type GuardError, type GuardVerdict } from 'ralphkit-guard';
export const verdict: Promise<GuardVerdict> = checkToolCall('Bash', { command: 'ls' }, { cwd: '/' });
export const remedyOf = (error: GuardError): string => error.remedy;
// @ts-expect-error the types are there: a command is a text
export const wrong = checkToolCall(5, {});
`,
    );
    const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    expect(run(folder, process.execPath, tsc, ...options, 'consumer.ts')).toBe('');
  });
});

function run(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error)) throw error;
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  }
}
