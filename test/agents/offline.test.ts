import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startModelServer } from '../support/model-server/server.ts';
import { makeRepo } from '../support/repo.ts';
import { preparePlace } from './place.ts';

/** Runs a program of ours where the real agents run. */
async function runThere(code: string): Promise<{ code: number | null; stdout: string }> {
  const { cwd, home } = makeRepo();
  const model = await startModelServer({ script: { answers: [{ blocks: [] }] } });
  onTestFinished(() => model.close());
  const row = { limit: 'waits' } as const;
  const place = await preparePlace({
    row,
    program: '',
    cwd,
    home,
    model,
    isolation: inject('isolation'),
  });
  onTestFinished(() => place.close());
  const [first = '', ...words] = [...place.through, process.execPath, '-e', code, model.url];
  const child = spawn(first, words, { cwd, env: { ...place.env } });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  await once(child, 'close');
  return { code: child.exitCode, stdout };
}

describe.skipIf(inject('isolation') === null)('where real agents run', () => {
  it('the model can be reached', async () => {
    const ask = "fetch(process.argv[1] + '/v1/models').then((answer) => console.log(answer.status))";
    expect((await runThere(ask)).stdout).toBe('200\n');
  });

  it('nothing else can', async () => {
    const knock =
      "require('node:net').connect(80, '192.0.2.1').on('error', (error) => console.log(error.code))";
    expect((await runThere(knock)).stdout).toBe('ENETUNREACH\n');
  });

  it.each([
    ['process.exit(7)', 7],
    ["process.kill(process.pid, 'SIGTERM')", 143],
  ])('%s is told as exit code %d', async (program, expected) => {
    expect((await runThere(program)).code).toBe(expected);
  });

  it('nothing of the environment of the tests is seen but PATH', async () => {
    process.env.SOME_REAL_KEY = 'secret';
    onTestFinished(() => {
      delete process.env.SOME_REAL_KEY;
    });
    const { stdout } = await runThere('console.log(Object.keys(process.env).join())');
    expect(stdout).toContain('PATH');
    expect(stdout).not.toContain('SOME_REAL_KEY');
  });
});
