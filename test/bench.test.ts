import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../bench/run.mjs', import.meta.url));

type Row = { readonly name: string; readonly n: number; readonly ours: number; readonly ok: boolean | null };
type Report = { readonly results: readonly { readonly name: string; readonly rows: readonly Row[] }[] };

describe('npm run bench', () => {
  it('measures what it is asked for and leaves nothing behind', () => {
    const temp = mkdtempSync(join(tmpdir(), 'bench-test-'));
    onTestFinished(() => rmSync(temp, { recursive: true, force: true }));
    const names = ['start', 'first-agent', 'iteration', 'journal'];
    const { status, stdout } = bench([...names, '--rounds', '1', '--json'], temp);
    const { results } = JSON.parse(stdout) as Report;
    const rows = results.flatMap((result) => result.rows);
    expect(status).toBe(0);
    expect(results.map((result) => result.name)).toEqual(names);
    expect(rows.map((row) => row.name)).toEqual(
      expect.arrayContaining([
        'ralph --version',
        'ralph run to the first agent',
        'agent exit to next agent start',
        'journal line',
      ]),
    );
    expect(rows.filter((row) => !(row.ours > 0 && row.n > 0))).toEqual([]);
    expect(readdirSync(temp)).toEqual([]);
  }, 60_000);

  it('refuses a benchmark that does not exist and names those that do', () => {
    const { status, stderr } = bench(['stort'], tmpdir());
    expect(status).toBe(2);
    expect(stderr).toContain('no such benchmark: stort (there are: start, first-agent,');
  });
});

function bench(words: readonly string[], temp: string) {
  const env = { ...process.env, TMPDIR: temp };
  return spawnSync(process.execPath, [program, ...words], { env, encoding: 'utf8', timeout: 60_000 });
}
