import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A file that breaks a rule, and what it imports where that has to be there. */
type Breach = {
  what: string;
  rule: string;
  file: string;
  text: string;
  target?: string;
  targetText?: string;
};

const importBreaches: Breach[] = [
  {
    what: 'core reads a file',
    rule: 'core-and-agents-are-pure',
    file: 'src/core/reads.ts',
    text: "import { readFileSync } from 'node:fs';\nexport const text = readFileSync('a', 'utf8');\n",
  },
  {
    what: 'agents take a type of node',
    rule: 'core-and-agents-are-pure',
    file: 'src/agents/claude/takes-type.ts',
    text: "import type { Readable } from 'node:stream';\nexport type Source = Readable;\n",
  },
  {
    what: 'agents import os',
    rule: 'agents-imports-only-what-is-before-it',
    file: 'src/agents/imports-os.ts',
    text: "export { target } from '../os/target.ts';\n",
    target: 'src/os/target.ts',
  },
  {
    what: 'drive imports the room after it, if only a type',
    rule: 'drive-imports-only-what-is-before-it',
    file: 'src/drive/imports-fleet.ts',
    text: "import type { target } from '../fleet/target.ts';\nexport type Target = typeof target;\n",
    target: 'src/fleet/target.ts',
  },
  {
    what: 'drive imports cli when called',
    rule: 'drive-imports-only-what-is-before-it',
    file: 'src/drive/imports-cli.ts',
    text: "export const load = () => import('../cli/target.ts');\n",
    target: 'src/cli/target.ts',
  },
  {
    what: 'drive starts a process',
    rule: 'processes-start-in-one-file',
    file: 'src/drive/process/starts.ts',
    text: "export { spawn } from 'node:child_process';\n",
  },
  {
    what: 'os starts a process in another file',
    rule: 'processes-start-in-one-file',
    file: 'src/os/starts.ts',
    text: "export { spawn } from 'child_process';\n",
  },
  {
    what: 'show writes a file',
    rule: 'files-are-touched-in-few-rooms',
    file: 'src/show/writes.ts',
    text: "export { writeFile } from 'node:fs/promises';\n",
  },
  {
    what: 'journal needs the test kit',
    rule: 'the-test-kit-is-for-tests',
    file: 'src/journal/needs-kit.ts',
    text: "export { target } from '../testkit/target.ts';\n",
    target: 'src/testkit/target.ts',
  },
  {
    what: 'two files import each other',
    rule: 'no-cycles',
    file: 'src/core/cycle-a.ts',
    text: "export { b } from './cycle-b.ts';\nexport const a = 1;\n",
    target: 'src/core/cycle-b.ts',
    targetText: "export { a } from './cycle-a.ts';\nexport const b = 1;\n",
  },
  {
    what: 'session looks behind the door of the guard',
    rule: 'the-guard-has-one-door',
    file: 'src/session/looks-behind.ts',
    text: "export { target } from '../../packages/guard/src/target.ts';\n",
    target: 'packages/guard/src/target.ts',
  },
  {
    what: 'the guard imports a room of the product',
    rule: 'the-guard-stands-alone',
    file: 'packages/guard/src/imports-core.ts',
    text: "export { target } from '../../../src/core/target.ts';\n",
    target: 'src/core/target.ts',
  },
  {
    what: 'the guard starts a process',
    rule: 'processes-start-in-one-file',
    file: 'packages/guard/src/starts.ts',
    text: "export { spawn } from 'node:child_process';\n",
  },
  {
    what: 'the guard reads a file somewhere else',
    rule: 'the-guard-reads-files-in-few-places',
    file: 'packages/guard/src/commands/reads.ts',
    text: "export { readFileSync } from 'node:fs';\n",
  },
  {
    what: 'a file stands in no room',
    rule: 'every-file-has-its-room',
    file: 'src/utils/path.ts',
    text: "export { sep } from 'node:path';\n",
  },
];

const roomBreaches: Breach[] = [
  {
    what: 'drive ends the process',
    rule: 'process.exit only in src/cli',
    file: 'src/drive/process/ends.ts',
    text: 'export function leave(): never {\n  process.exit(1);\n}\n',
  },
  {
    what: 'journal prints',
    rule: 'console only in src/cli',
    file: 'src/journal/prints.ts',
    text: "console.error('lost');\n",
  },
  {
    what: 'the guard ends the process of its caller',
    rule: 'process.exit only in src/cli',
    file: 'packages/guard/src/ends.ts',
    text: 'export function leave(): never {\n  process.exit(1);\n}\n',
  },
  {
    what: 'os starts a process through a shell',
    rule: 'no process through a shell of the runtime',
    file: 'src/os/shell.ts',
    text: `export const options = { shell: ${true} };\n`,
  },
  {
    what: 'a script takes the shell by its other name',
    rule: 'no exec, which is a shell too',
    file: 'scripts/shell.mjs',
    text: `import { ${'exec'}Sync } from 'node:child_process';\n`,
  },
  {
    what: 'a file has a default export',
    rule: 'no default exports',
    file: 'src/core/default.ts',
    text: 'export default 1;\n',
  },
  {
    what: 'a file has a name that says nothing',
    rule: 'a word that CONTEXT.md rules out',
    file: 'src/fleet/utils.ts',
    text: 'export const one = 1;\n',
  },
  {
    what: 'a file beside the tests has such a name',
    rule: 'a word that CONTEXT.md rules out',
    file: 'test/core/helpers.ts',
    text: 'export const one = 1;\n',
  },
  {
    what: 'an option has such a name',
    rule: 'an option with a word that CONTEXT.md rules out',
    file: 'src/cli/extra/options.ts',
    text: "export const options = {\n  'the-engine': { type: 'string', help: 'x' },\n};\n",
  },
  {
    what: 'an option has such another name',
    rule: 'an option with a word that CONTEXT.md rules out',
    file: 'src/cli/other/options.ts',
    text: "export const options = {\n  cluster: { aliases: ['engine'] },\n};\n",
  },
  {
    what: 'a map names a file that is gone',
    rule: 'names drive/gone.ts, which is not there',
    file: 'CONTRIBUTING.md',
    text: 'See `drive/gone.ts`.\n',
  },
  {
    what: 'a page shows where somebody works',
    rule: 'no path of a machine',
    file: 'docs/install.md',
    text: `Then open ${'/home'}/jane/project.\n`,
  },
  {
    what: 'the lock file names a registry',
    rule: 'no address of a package registry',
    file: 'package-lock.json',
    text: `{ "resolved": "https://${'registry'}.example.com/a.tgz" }\n`,
  },
];

const sizeBreaches: Breach[] = [
  {
    what: 'a file is too long',
    rule: 'noExcessiveLinesPerFile',
    file: 'src/core/long.ts',
    text: `${lines(301, (n) => `export const n${n} = ${n};`)}\n`,
  },
  {
    what: 'a function is too long',
    rule: 'noExcessiveLinesPerFunction',
    file: 'src/core/long-function.ts',
    text: `export function long() {\n${lines(61, () => '  long();')}\n}\n`,
  },
  {
    what: 'a signature is too long',
    rule: 'useMaxParams',
    file: 'packages/guard/src/wide.ts',
    text: 'export function wide(a: 1, b: 2, c: 3, d: 4, e: 5) {\n  return [a, b, c, d, e];\n}\n',
  },
];

function lines(count: number, text: (number: number) => string): string {
  return Array.from({ length: count }, (_, index) => text(index)).join('\n');
}

/** What nobody uses, and who finds it: `unused` looks at the tests too, `dead` only at what the product needs. */
const unusedCode: (Omit<Breach, 'rule'> & { finder: 'unused' | 'dead'; finding: RegExp })[] = [
  {
    what: 'nothing imports a file',
    finder: 'unused',
    finding: /Unused files.*\n\s*src\/os\/lonely\.ts/,
    file: 'src/os/lonely.ts',
    text: 'export const lonely = 1;\n',
  },
  {
    what: 'nothing imports an export',
    finder: 'unused',
    finding: /Unused exports.*\n\s*surplus .*src\/os\/half-used\.ts/,
    file: 'src/os/half-used.test.ts',
    text: "import { half } from './half-used.ts';\nhalf.toFixed();\n",
    target: 'src/os/half-used.ts',
    targetText: 'export const half = 1;\nexport const surplus = 2;\n',
  },
  {
    what: 'only its test needs a file',
    finder: 'dead',
    finding: /Unused files.*\n\s*src\/os\/only-tested\.ts/,
    file: 'src/os/only-tested.test.ts',
    text: "import { target } from './only-tested.ts';\ntarget.toFixed();\n",
    target: 'src/os/only-tested.ts',
  },
];

const root = fileURLToPath(new URL('..', import.meta.url));
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'layout-'));
  const folders = ['src', 'packages', 'scripts', 'test', 'bench'];
  const files = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'knip.config.js', 'biome.json'];
  for (const name of [...folders, ...files, '.dependency-cruiser.cjs', '.gitignore', 'CONTEXT.md']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the layout check', () => {
  it('is green as it stands', () => {
    expect(check('imports', 'rooms', 'unused', 'dead')).toEqual({
      code: 0,
      output: expect.stringContaining('all checks passed'),
    });
  });

  it('refuses the name of a check that is not there', () => {
    expect(check('import')).toEqual({ code: 2, output: expect.stringContaining('no such check: import') });
  });
});

// Starting a check takes a second, so all breaches of its rules stand in the copy at once.
describe('the import check', () => {
  let code: number | null;
  let output: string;

  beforeAll(() => {
    for (const breach of importBreaches) write(breach);
    write({ file: 'src/core/some.test.ts', text: "import 'node:fs';\nimport 'node:child_process';\n" });
    ({ code, output } = check('imports'));
    for (const breach of importBreaches) remove(breach);
  });

  it('fails', () => {
    expect(code).toBe(1);
    expect(output).toContain('FAILED imports');
  });

  it.each(importBreaches)('finds that $what', ({ rule, file }) => {
    expect(output).toContain(`error ${rule}: ${file} →`);
  });

  it('lets tests use what their unit may not', () => {
    expect(output).not.toContain('some.test.ts');
  });
});

describe('the room check', () => {
  let code: number | null;
  let output: string;

  beforeAll(() => {
    for (const breach of roomBreaches) write(breach);
    ({ code, output } = check('rooms'));
    for (const breach of roomBreaches) remove(breach);
  });

  it('fails', () => {
    expect(code).toBe(1);
    expect(output).toContain('FAILED rooms');
  });

  it.each(roomBreaches)('names the file when $what', ({ rule, file }) => {
    expect(output).toMatch(new RegExp(`^  ${file}:\\d+ ${rule}`, 'm'));
  });

  it('lets tests end processes and print', () => {
    write({ file: 'src/drive/process/some.test.ts', text: "console.log('a');\nprocess.exit(0);\n" });
    expect(check('rooms').code).toBe(0);
  });
});

describe('the lint check', () => {
  const inTests = sizeBreaches.map((breach) => ({ ...breach, file: breach.file.replace('.ts', '.test.ts') }));
  let output: string;

  beforeAll(() => {
    for (const breach of [...sizeBreaches, ...inTests]) write(breach);
    ({ output } = check('lint'));
    for (const breach of [...sizeBreaches, ...inTests]) remove(breach);
  });

  it.each(sizeBreaches)('names the file when $what', ({ rule, file }) => {
    expect(output).toMatch(new RegExp(`${file}:\\d+:\\d+ lint/\\w+/${rule}`));
  });

  it.each(inTests)('lets $file be as large as it has to be', ({ file }) => {
    expect(output).not.toContain(file);
  });
});

describe('the check of what is unused', () => {
  it.each(unusedCode)('fails when $what', ({ finder, finding, ...breach }) => {
    write(breach);
    const { code, output } = check(finder);
    remove(breach);
    expect(code).toBe(1);
    expect(output).toMatch(finding);
  });
});

function check(...names: string[]): { code: number | null; output: string } {
  const words = [join(copy, 'scripts/check.mjs'), ...names, '--root', copy];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

function write({ file, text, target, targetText }: Omit<Breach, 'what' | 'rule'>): void {
  const files = { [file]: text, ...(target && { [target]: targetText ?? 'export const target = 1;\n' }) };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), content);
  }
}

function remove({ file, target }: Pick<Breach, 'file' | 'target'>): void {
  for (const path of target ? [file, target] : [file]) rmSync(join(copy, path));
}
