import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectProject } from './detect.ts';

let cwd: string;
let bin: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'ralph-detect-'));
  bin = join(cwd, 'bin');
  mkdirSync(bin);
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function install(...names: string[]): void {
  for (const name of names) {
    writeFileSync(join(bin, name), '#!/bin/sh\n');
    chmodSync(join(bin, name), 0o755);
  }
}

function write(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
}

const detect = () => detectProject(cwd, { PATH: bin });
const commands = () => detect().checks.map(({ kind, command, from }) => `${kind}: ${command} (${from})`);
const scripts = (names: Record<string, string>, more = {}) => JSON.stringify({ scripts: names, ...more });

describe('detectProject', () => {
  it('finds nothing in an empty folder', () => {
    expect(detect()).toEqual({ agents: [], checks: [], configuration: [] });
  });

  it('finds the agents on PATH that can be run, the first choice first', () => {
    install('gemini', 'codex', 'claude');
    chmodSync(join(bin, 'claude'), 0o644);
    mkdirSync(join(bin, 'amp'));
    expect(detect().agents).toEqual(['codex', 'gemini']);
  });

  it('takes scripts of package.json, but not the one that npm makes up', () => {
    install('npm');
    write({
      'package.json': scripts({
        build: 'tsc',
        test: 'vitest',
        lint: 'biome',
        'type-check': 'tsc',
        start: 'x',
      }),
    });
    expect(commands()).toEqual([
      'lint: npm run lint (package.json)',
      'typecheck: npm run type-check (package.json)',
      'test: npm run test (package.json)',
      'build: npm run build (package.json)',
    ]);
    write({ 'package.json': scripts({ test: 'echo "Error: no test specified" && exit 1' }) });
    expect(commands()).toEqual([]);
  });

  it.each([
    ['pnpm', { 'pnpm-lock.yaml': '' }, {}],
    ['yarn', { 'yarn.lock': '' }, {}],
    ['bun', { 'bun.lock': '' }, {}],
    ['bun', { 'bun.lockb': '' }, {}],
    ['npm', { 'package-lock.json': '{}' }, {}],
    ['yarn', { 'pnpm-lock.yaml': '' }, { packageManager: 'yarn@4.1.0' }],
  ])('runs scripts with %s when %j and %j say so', (manager, files, more) => {
    install('npm', 'pnpm', 'yarn', 'bun');
    write({ 'package.json': scripts({ test: 'x' }, more), ...files });
    expect(commands()).toEqual([`test: ${manager} run test (package.json)`]);
  });

  it('lists configuration of checks, but not what tasks have to change', () => {
    write({
      ...{ '.npmrc': '', 'eslint.config.js': '', 'tsconfig.json': '', 'pyproject.toml': '', Makefile: '' },
      'a.test.js': '',
    });
    mkdirSync(join(cwd, '.github/workflows'), { recursive: true });
    expect(detect().configuration).toEqual(['.github/workflows/', '.npmrc', 'eslint.config.js']);
  });

  it('takes targets of a Makefile, which come before scripts of the same kind', () => {
    install('npm', 'make');
    write({
      Makefile: 'lint := no\n.PHONY: build\nall test: deps\n\tbuild: no\n# lint: no\nlint ::= no\n',
      'package.json': scripts({ test: 'x', lint: 'y' }),
    });
    expect(commands()).toEqual(['lint: npm run lint (package.json)', 'test: make test (Makefile)']);
    rmSync(join(bin, 'make'));
    expect(commands()).toContain('test: npm run test (package.json)');
  });

  it('knows the checks of Cargo and Go', () => {
    install('cargo', 'cargo-clippy', 'go');
    write({ 'Cargo.toml': '[package]', 'go.mod': 'module x' });
    expect(commands()).toEqual([
      'lint: cargo clippy --all-targets -- -D warnings (Cargo.toml)',
      'lint: go vet ./... (go.mod)',
      'test: cargo test (Cargo.toml)',
      'test: go test ./... (go.mod)',
      'build: cargo build (Cargo.toml)',
      'build: go build ./... (go.mod)',
    ]);
    rmSync(join(bin, 'cargo-clippy'));
    expect(commands()).not.toContain('lint: cargo clippy --all-targets -- -D warnings (Cargo.toml)');
  });

  it('knows the Python tools that are configured, and how the project runs them', () => {
    install('pytest', 'ruff', 'mypy', 'uv');
    write({ 'pyproject.toml': '[project]\nname = "x"\n' });
    expect(commands()).toEqual([]);
    write({ 'pyproject.toml': '[tool.ruff.lint]\n[tool.mypy]\n[tool.pytest.ini_options]\n' });
    expect(commands()).toEqual([
      'lint: ruff check . (pyproject.toml)',
      'typecheck: mypy . (pyproject.toml)',
      'test: pytest (pyproject.toml)',
    ]);
    write({ 'pyproject.toml': '[dependency-groups]\ndev = ["pytest>=8", "ruff"]\n' });
    expect(commands()).toEqual(['lint: ruff check . (pyproject.toml)', 'test: pytest (pyproject.toml)']);
    write({ 'pyproject.toml': '', 'uv.lock': '', 'ruff.toml': '', 'setup.cfg': '[tool:pytest]' });
    expect(commands()).toEqual(['lint: uv run ruff check . (ruff.toml)', 'test: uv run pytest (setup.cfg)']);
  });

  it('takes what cannot be run here only where nothing else of its kind can, and says what is missing', () => {
    write({ Makefile: 'lint:\n', 'go.mod': 'module x', 'package.json': scripts({ test: 'x' }) });
    install('npm');
    expect(detect().checks).toEqual([
      { kind: 'lint', command: 'make lint', from: 'Makefile', missing: 'make' },
      { kind: 'test', command: 'npm run test', from: 'package.json' },
      { kind: 'build', command: 'go build ./...', from: 'go.mod', missing: 'go' },
    ]);
  });

  it.each(['[]', '{', '{"scripts":[]}', '{"scripts":{"test":{}}}', ''])(
    'finds no scripts in a package.json of %j',
    (content) => {
      install('npm');
      write({ 'package.json': content });
      expect(commands()).toEqual([]);
    },
  );
});
