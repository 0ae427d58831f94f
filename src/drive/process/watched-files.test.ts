import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unmatchedPatterns } from './protected.ts';
import { watchFiles } from './watched-files.ts';

let cwd = '';
let record = { file: '' };
const write = (path: string, text = 'x') => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
};
const watch = (patterns: string[], resumed: boolean) => {
  const files = watchFiles(
    { cwd, env: {}, commands: [], protectedPaths: patterns, protectChecks: false },
    { ...record, resumed },
  );
  return { check: async () => (await files.check([]))[0] ?? null };
};
const protect = (...patterns: string[]) => watch(patterns, false);
const resume = (...patterns: string[]) => watch(patterns, true);

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'protected-'));
  record = { file: join(cwd, '.ralph/runs/1/protected.json') };
  for (const path of ['a.test.ts', 'src/a.ts', '.ralph/settings.json', 'node_modules/lib/index.js'])
    write(path);
  write('node_modules/lib/a.test.ts');
});
afterEach(() => rmSync(cwd, { recursive: true }));

describe('watchFiles with protected paths', () => {
  it('passes while nothing was changed, and names what was', async () => {
    const files = protect('*.test.ts');
    write('src/a.ts', 'y');
    expect(await files.check()).toEqual({ check: 'protected-paths', ok: true, detail: 'as they were (1)' });
    write('a.test.ts', 'y');
    write('src/b.test.ts');
    expect(await files.check()).toMatchObject({
      ok: false,
      detail: 'a.test.ts (changed), src/b.test.ts (added)',
    });
    rmSync(join(cwd, 'a.test.ts'));
    expect((await files.check())?.detail).toContain('a.test.ts (removed)');
  });

  it('looks at nothing without a pattern', async () => {
    expect(await protect().check()).toBeNull();
    expect(existsSync(record.file)).toBe(false);
  });

  it('watches the folder of the loop when a pattern names it, but not what the loop itself changes', async () => {
    const files = protect('.ralph/');
    for (const name of [
      'runs/1/journal.ndjson',
      'guardrail_1_npm-test.log',
      'lock',
      'lock.bad-1',
      'blocked.txt',
    ])
      write(`.ralph/${name}`, 'by the loop');
    expect(await files.check()).toMatchObject({ ok: true, detail: 'as they were (1)' });
    write('.ralph/settings.json', 'by the agent');
    write('.ralph/hook.sh');
    expect((await files.check())?.detail).toBe('.ralph/hook.sh (added), .ralph/settings.json (changed)');
  });

  it('watches installed packages only for the patterns that name them', async () => {
    const all = protect('*.test.ts');
    write('node_modules/lib/a.test.ts', 'y');
    expect(await all.check()).toMatchObject({ ok: true });
    rmSync(record.file);
    const some = protect('node_modules/lib/index.js', '*.test.ts');
    write('node_modules/lib/a.test.ts', 'z');
    expect(await some.check()).toMatchObject({ ok: true });
    write('node_modules/lib/index.js', 'y');
    expect((await some.check())?.detail).toBe('node_modules/lib/index.js (changed)');
  });

  it.each(['.git', '.git/', './.git/hooks/**', 'sub/.git/config'])(
    'refuses %s in one sentence',
    (pattern) => {
      expect(() => protect('*.test.ts', pattern)).toThrow(
        expect.objectContaining({
          code: 'protected-git',
          exitCode: 2,
          message: expect.stringContaining(pattern),
        }),
      );
      expect(() => protect('.github/**', '.gitignore')).not.toThrow();
    },
  );

  it('judges a resumed run by the files at its start', async () => {
    protect('*.test.ts');
    write('a.test.ts', 'y');
    expect((await resume('*.test.ts').check())?.detail).toBe('a.test.ts (changed)');
  });

  it.each(['{"a.test.ts":', '', '[]', 'null', '{"a.test.ts":1}'])(
    'rejects every claim when the record is %j, and leaves it as it is',
    async (text) => {
      write('.ralph/runs/1/protected.json', text);
      expect(await resume('*.test.ts').check()).toMatchObject({
        ok: false,
        detail: 'the record of the protected files is damaged; start a new run',
      });
      expect(readFileSync(record.file, 'utf8')).toBe(text);
    },
  );

  it('rejects every claim of a resumed run whose record is gone', async () => {
    protect('*.test.ts');
    rmSync(record.file);
    expect(await resume('*.test.ts').check()).toMatchObject({
      ok: false,
      detail: 'the record of the protected files is missing; start a new run',
    });
    expect(existsSync(record.file)).toBe(false);
  });
});

describe('unmatchedPatterns', () => {
  it('gives the patterns that protect nothing', () => {
    const patterns = ['*.test.ts', '.ralph/', 'node_modules/', 'spec/', '.ralph/lock', 'index.js', '.git/'];
    expect(unmatchedPatterns(cwd, patterns)).toEqual(['spec/', '.ralph/lock', 'index.js', '.git/']);
  });
});
