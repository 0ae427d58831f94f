/** Folders and names that test runners of the common languages look for. */
const testFile =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/|(?:^|\/)test_[^/]*\.py$|[._-](?:test|spec)s?\.\w+$|(?:Test|Tests|Spec)\.(?:java|kt|cs|swift|scala|php)$/;

/** Configuration of package managers, test runners, linters, type checkers, build files and CI. */
const configFile = new RegExp(
  [
    '^\\.(?:github/workflows|circleci|husky)/',
    '(?:^|/)\\.(?:npmrc|yarnrc(?:\\.yml)?|pnpmfile\\.cjs|eslint[^/]*|prettierrc[^/]*|mocharc[^/]*|golangci[^/]*|rspec|flake8|pylintrc|coveragerc|ruff\\.toml|pre-commit-config\\.yaml|gitlab-ci\\.yml)$',
    '(?:^|/)(?:conftest\\.py|pytest\\.ini|tox\\.ini|setup\\.cfg|mypy\\.ini|ruff\\.toml|pyproject\\.toml|clippy\\.toml|phpunit\\.xml[^/]*|biome\\.jsonc?|deno\\.jsonc?|bunfig\\.toml|tsconfig[^/]*\\.json|GNUmakefile|[Mm]akefile|[Jj]ustfile|Taskfile\\.ya?ml|Jenkinsfile)$',
    '\\.(?:config|setup)\\.[cm]?[jt]s$',
  ].join('|'),
);

/** What a file has to do with checks; null for any other file. */
export function checkFileKind(path: string): 'test' | 'config' | null {
  if (configFile.test(path)) return 'config';
  return testFile.test(path) ? 'test' : null;
}

/** Parts of package.json that test runners and linters read. */
const manifestConfig = ['jest', 'mocha', 'ava', 'eslintConfig'];
const scriptRunner = /\b(?:npm|pnpm|yarn|bun|node --run|turbo|nx|lerna)\b/;

/** Returns the words of a command line, and of the values of its options. */
export function commandWords(command: string): string[] {
  return command.split(/[\s;&|()<>{}"'`=,]+/).flatMap((word) => word.replace(/^(?:\.\/)+/, '') || []);
}

/** Returns the parts of a package.json that define what these commands do, by name: `scripts.test`, `jest`. */
export function checkParts(
  manifest: Readonly<Record<string, unknown>>,
  scripts: Readonly<Record<string, unknown>>,
  commands: readonly string[],
): Map<string, string> {
  const parts = new Map(
    manifestConfig.flatMap((key) => (key in manifest ? [[key, JSON.stringify(manifest[key])] as const] : [])),
  );
  const open = [...commands];
  for (let command = open.pop(); command !== undefined; command = open.pop()) {
    if (!scriptRunner.test(command)) continue;
    const names = commandWords(command).map((word) => (word === 't' ? 'test' : word));
    for (const name of names.flatMap((each) => [each, `pre${each}`, `post${each}`])) {
      const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
      if (typeof script !== 'string' || parts.has(`scripts.${name}`)) continue;
      parts.set(`scripts.${name}`, script);
      open.push(script);
    }
  }
  return parts;
}
