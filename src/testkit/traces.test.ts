import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { bundle } from '../../test/testkit/run-fake.ts';

it('gives every turn to one process only, however many take turns at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'turns-'));
  const module = join(dir, 'traces.cjs');
  bundle('traces.ts', module, 'cjs');
  const program = `
    const { takeTurn } = require(process.argv[1]);
    const taken = Array.from({ length: 300 }, () => takeTurn(process.argv[2]));
    process.stdout.write(JSON.stringify(taken));`;
  const args = ['-e', program, module, join(dir, 'script.json')];
  const racers = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args));
  const taken: number[] = (await Promise.all(racers)).flatMap(({ stdout }) => JSON.parse(stdout));
  expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1));
});
