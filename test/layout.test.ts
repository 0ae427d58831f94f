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
    what: 'agents import system',
    rule: 'agents-imports-only-what-is-before-it',
    file: 'src/agents/imports-system.ts',
    text: "export { target } from '../system/target.ts';\n",
    target: 'src/system/target.ts',
  },
  {
    what: 'loop imports the layer beside it, if only a type',
    rule: 'loop-imports-only-what-is-before-it',
    file: 'src/loop/imports-session.ts',
    text: "import type { target } from '../session/target.ts';\nexport type Target = typeof target;\n",
    target: 'src/session/target.ts',
  },
  {
    what: 'loop imports cli when called',
    rule: 'loop-imports-only-what-is-before-it',
    file: 'src/loop/imports-cli.ts',
    text: "export const load = () => import('../cli/target.ts');\n",
    target: 'src/cli/target.ts',
  },
  {
    what: 'loop starts a process',
    rule: 'processes-start-in-one-file',
    file: 'src/loop/starts.ts',
    text: "export { spawn } from 'node:child_process';\n",
  },
  {
    what: 'system starts a process in another file',
    rule: 'processes-start-in-one-file',
    file: 'src/system/starts.ts',
    text: "export { spawn } from 'child_process';\n",
  },
  {
    what: 'view writes a file',
    rule: 'files-are-touched-in-system-and-store',
    file: 'src/view/writes.ts',
    text: "export { writeFile } from 'node:fs/promises';\n",
  },
  {
    what: 'store needs the test kit',
    rule: 'the-test-kit-is-for-tests',
    file: 'src/store/needs-kit.ts',
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
    what: 'a file stands in no layer',
    rule: 'every-file-has-its-layer',
    file: 'src/utils/path.ts',
    text: "export { sep } from 'node:path';\n",
  },
];

const roomBreaches: Breach[] = [
  {
    what: 'loop ends the process',
    rule: 'process.exit only in src/cli',
    file: 'src/loop/ends.ts',
    text: 'export function leave(): never {\n  process.exit(1);\n}\n',
  },
  {
    what: 'store prints',
    rule: 'console only in src/cli',
    file: 'src/store/prints.ts',
    text: "console.error('lost');\n",
  },
  {
    what: 'system starts a process through a shell',
    rule: 'no process through a shell of the runtime',
    file: 'src/system/shell.ts',
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

const root = fileURLToPath(new URL('..', import.meta.url));
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'layout-'));
  for (const name of ['src', 'scripts', '.dependency-cruiser.cjs', '.gitignore']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the layout check', () => {
  it('is green as it stands', () => {
    expect(check('imports', 'rooms')).toEqual({
      code: 0,
      output: expect.stringContaining('all checks passed'),
    });
  });

  it('refuses the name of a check that is not there', () => {
    expect(check('import')).toEqual({ code: 2, output: expect.stringContaining('no such check: import') });
  });
});

// Starting the import check takes a second, so all breaches of its rules stand in the copy at once.
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
  it.each(roomBreaches)('fails and names the file when $what', (breach) => {
    write(breach);
    const { code, output } = check('rooms');
    remove(breach);
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`^  ${breach.file}:\\d+ ${breach.rule}`, 'm'));
  });

  it('lets tests end processes and print', () => {
    write({ file: 'src/loop/some.test.ts', text: "console.log('a');\nprocess.exit(0);\n" });
    expect(check('rooms').code).toBe(0);
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

function remove({ file, target }: Breach): void {
  for (const path of target ? [file, target] : [file]) rmSync(join(copy, path));
}
