import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('made-up/folder', import.meta.url));
const program = fileURLToPath(new URL('made-up/parrot', import.meta.url));
const page = readFileSync(join(root, 'docs/adding-an-agent.md'), 'utf8');
let copy: string;

/** The steps of docs/adding-an-agent.md in a copy of the repository: a folder, and the agent in the registry. */
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'made-up-'));
  const left = ['node_modules', 'dist', '.git'].map((name) => join(root, name));
  cpSync(root, copy, { recursive: true, filter: (path) => !left.includes(path) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  cpSync(folder, join(copy, 'src/agents/parrot'), { recursive: true });
  const registry = join(copy, 'src/agents/registry.ts');
  const text = `import { parrot } from './parrot/agent.ts';\n${readFileSync(registry, 'utf8')}`;
  writeFileSync(registry, text.replace('  custom,\n', '  parrot,\n  custom,\n'));
  run('scripts/record-agent.mjs', `parrot=${program}`, 'tool-ok', 'err-401', 'err-usage-limit');
  run('scripts/build.mjs');
}, 300_000);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('a made-up agent, added by the book', () => {
  it('has only files that the page names', () => {
    const names = readdirSync(folder).map((name) => `\`${name}\``);
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });

  it('compiles', () => {
    const config = { extends: './tsconfig.json', include: ['src/agents', 'src/globals.d.ts'] };
    writeFileSync(join(copy, 'tsconfig.agents.json'), JSON.stringify(config));
    run(
      'node_modules/typescript/bin/tsc',
      '--noEmit',
      '--incremental',
      'false',
      '-p',
      'tsconfig.agents.json',
    );
  });

  it('passes the tests that all agents pass', () => {
    const output = vitest('ralph', 'src/agents/parrot', 'src/agents/registry.test.ts');
    expect(output).toContain('parrot reads 1.4.0-err-usage-limit');
  });

  it('goes through the loops that real agents go through, from a program that is not on npm', () => {
    const output = vitest('agents', 'test/agents/loops.test.ts');
    expect(output).toMatch(/Tests +6 passed \(6\)/);
    // It tells no reset time.
    expect(output).toContain('the real parrot local > meets a usage limit in the middle: backs-off');
  });

  it('is known to the commands', () => {
    const output = run('dist/ralph.cjs', 'doctor', '--agent', program, '--json');
    expect(output).toContain('parrot hungry says: fed');
  });
});

/** Runs a program of the copy with node, and gives what it printed. */
function run(path: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, TEST_AGENTS: `parrot=${program}` },
  });
  expect(status, `${path} ${words.join(' ')}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

function vitest(project: string, ...paths: string[]): string {
  return run(
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    project,
    '--reporter',
    'verbose',
    ...paths,
  );
}
