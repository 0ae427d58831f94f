import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { knownAgents } from '../agents/registry.ts';
import { checkFileKind } from '../core/check-files.ts';
import { listDir, readJsonAs, tryReadText } from '../os/files/files.ts';
import { type Environment, findProgram } from '../os/process/program.ts';

const kinds = ['lint', 'typecheck', 'test', 'build'] as const;
type CheckKind = (typeof kinds)[number];

/** A command that checks the project, and the file that names it. */
type ProjectCheck = {
  readonly kind: CheckKind;
  readonly command: string;
  readonly from: string;
  /** The program of the command, if it is not on PATH. */
  readonly missing?: string;
};

export type DetectedProject = Readonly<ReturnType<typeof detectProject>>;

type Folder = { has(name: string): boolean; text(name: string): string };

/** Looks for agents and checks. Lists a check that cannot run here only if no other of its kind can. */
export function detectProject(cwd: string, env: Environment) {
  const folder: Folder = {
    has: (name) => existsSync(join(cwd, name)),
    text: (name) => tryReadText(join(cwd, name), { maxBytes: 1024 * 1024 }) ?? '',
  };
  const installed = (program: string) => findProgram(program, env) !== null;
  const looked = (check: ProjectCheck): ProjectCheck => {
    const [program = ''] = check.command.split(' ');
    return installed(program) ? check : { ...check, missing: program };
  };
  const byMake = makeChecks(folder).map(looked);
  const others = [
    ...scriptChecks(folder, join(cwd, 'package.json')),
    ...toolChecks(folder, installed('cargo-clippy')),
  ].map(looked);
  // A Makefile goes before the tools that it calls.
  const choices = [runnable(byMake), runnable(others), byMake, others];
  return {
    /** Agents on PATH, the first choice first. */
    agents: knownAgents.filter(installed),
    checks: kinds.flatMap((kind) => {
      const ofKind = choices.map((checks) => checks.filter((check) => check.kind === kind));
      return ofKind.find((checks) => checks.length > 0) ?? [];
    }),
    /** Configuration of linters, test runners and CI, which few tasks have to change. */
    configuration: [
      ...['.circleci/', '.github/workflows/', '.husky/'].filter(folder.has),
      ...listDir(cwd).filter((name) => checkFileKind(name) === 'config' && !sharedFile.test(name)),
    ],
  };
}

/** Configuration of checks that also lists dependencies or builds the project. */
const sharedFile = /^(?:pyproject\.toml|setup\.cfg|tsconfig.*|.*makefile|justfile|taskfile.*|deno\.jsonc?)$/i;

function runnable(checks: readonly ProjectCheck[]): ProjectCheck[] {
  return checks.filter(({ missing }) => missing === undefined);
}

function makeChecks(folder: Folder): ProjectCheck[] {
  const from = ['GNUmakefile', 'makefile', 'Makefile'].find(folder.has);
  if (from === undefined) return [];
  const rules = folder.text(from).matchAll(/^([^\s#:=][^:=#]*)::?(?!:?=)/gm);
  const targets = new Set([...rules].flatMap(([, names = '']) => names.trim().split(/\s+/)));
  return kinds.filter((kind) => targets.has(kind)).map((kind) => ({ kind, command: `make ${kind}`, from }));
}

const manifestSchema = v.object({
  scripts: v.fallback(v.record(v.string(), v.unknown()), {}),
  packageManager: v.fallback(v.string(), ''),
});

function scriptChecks(folder: Folder, path: string): ProjectCheck[] {
  const { scripts = {}, packageManager: declared = '' } = readJsonAs(path, manifestSchema) ?? {};
  const manager = packageManager(folder, declared);
  return kinds.flatMap((kind) => {
    const names = kind === 'typecheck' ? ['typecheck', 'type-check', 'check-types'] : [kind];
    const name = names.find((candidate) => isRealScript(scripts[candidate]));
    return name === undefined ? [] : [{ kind, command: `${manager} run ${name}`, from: 'package.json' }];
  });
}

function isRealScript(script: unknown): boolean {
  // What `npm init` writes is a test that always fails.
  return typeof script === 'string' && script !== '' && !script.includes('no test specified');
}

function packageManager(folder: Folder, declared: string): string {
  const [name] = declared.split('@');
  if (name === 'npm' || name === 'pnpm' || name === 'yarn' || name === 'bun') return name;
  if (folder.has('pnpm-lock.yaml')) return 'pnpm';
  if (folder.has('yarn.lock')) return 'yarn';
  return folder.has('bun.lock') || folder.has('bun.lockb') ? 'bun' : 'npm';
}

function toolChecks(folder: Folder, clippy: boolean): ProjectCheck[] {
  const matching = (file: string, pattern: RegExp) => (pattern.test(folder.text(file)) ? file : undefined);
  const whole = (file: string) => (folder.has(file) ? file : undefined);
  const [cargo, go] = [whole('Cargo.toml'), whole('go.mod')];
  const runner = folder.has('uv.lock') ? 'uv run ' : folder.has('poetry.lock') ? 'poetry run ' : '';
  const ruff =
    whole('ruff.toml') ??
    whole('.ruff.toml') ??
    matching('pyproject.toml', /^\[tool\.ruff\b|^ruff\s*=|["']ruff\b/m);
  const mypy = whole('mypy.ini') ?? matching('pyproject.toml', /^\[tool\.mypy\]/m);
  const pytest =
    whole('pytest.ini') ??
    matching('pyproject.toml', /^\[tool\.pytest\b|^pytest\s*=|["']pytest\b/m) ??
    matching('setup.cfg', /^\[tool:pytest\]/m) ??
    matching('tox.ini', /^\[pytest\]/m) ??
    whole('conftest.py');
  const table: [from: string | undefined, kind: CheckKind, command: string][] = [
    [clippy ? cargo : undefined, 'lint', 'cargo clippy --all-targets -- -D warnings'],
    [cargo, 'test', 'cargo test'],
    [cargo, 'build', 'cargo build'],
    [go, 'lint', 'go vet ./...'],
    [go, 'test', 'go test ./...'],
    [go, 'build', 'go build ./...'],
    [ruff, 'lint', `${runner}ruff check .`],
    [mypy, 'typecheck', `${runner}mypy .`],
    [pytest, 'test', `${runner}pytest`],
  ];
  return table.flatMap(([from, kind, command]) => (from === undefined ? [] : [{ kind, command, from }]));
}
