import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTempDir, removeTempDir } from '../src/system/temp.ts';
import { copyBuilt } from './support/copy.ts';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) removeTempDir(folder);
});

/** A copy of the program, so that nobody else keeps code beside it. */
function copyProgram(): string {
  const folder = makeTempDir('ralph-code-');
  folders.push(folder);
  copyBuilt(dist, join(folder, 'dist'), (name) => !/^(?:types|lib|web)$/.test(name));
  return join(folder, 'dist');
}

function listRuns(program: string): string {
  return execFileSync(process.execPath, [join(program, 'ralph.cjs'), 'runs'], {
    cwd: program,
    encoding: 'utf8',
  });
}

function kept(program: string): string[] {
  return readdirSync(program)
    .filter((name) => name.startsWith('.code-'))
    .map((name) => join(program, name));
}

describe('the code that V8 compiled', () => {
  it('is kept beside the program and used from then on, made anew no more than five times', () => {
    const program = copyProgram();
    const said = listRuns(program);
    const [file = '', ...more] = kept(program);
    expect(more).toEqual([]);
    for (let i = 2; i <= 5; i++) expect(listRuns(program)).toBe(said);
    const { ino } = statSync(file);
    expect(listRuns(program)).toBe(said);
    expect(kept(program)).toEqual([file]);
    expect(statSync(file).ino).toBe(ino);
  });

  it('is made anew where it is torn or damaged', () => {
    const program = copyProgram();
    const said = listRuns(program);
    const [file = ''] = kept(program);
    const whole = readFileSync(file);
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 5000, 5064);
    for (const bytes of [
      damaged,
      whole.subarray(0, whole.length - 1000),
      Buffer.alloc(0),
      Buffer.from('not code'),
    ]) {
      writeFileSync(file, bytes);
      expect(listRuns(program)).toBe(said);
      expect(readFileSync(file).length).toBeGreaterThan(10_000);
    }
  });

  it('is not used for other code of the same length', () => {
    const program = copyProgram();
    const said = listRuns(program);
    const path = join(program, 'start-ralph.cjs');
    const [file = ''] = kept(program);
    const { ino } = statSync(file);
    const [hash = '', ...lines] = readFileSync(path, 'utf8').split('\n');
    const other = lines.join('\n').replaceAll('there is no ', 'There is no ');
    writeFileSync(path, `// ${'0'.repeat(hash.length - 3)}\n${other}`);
    expect(listRuns(program)).toBe(said);
    expect(kept(program)).toEqual([file]);
    expect(statSync(file).ino).not.toBe(ino);
  });
});
