import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { alive, processesOfRun, waitUntil } from './processes.ts';
import { runRalph, startRalph } from './ralph.ts';
import { makeRepo, type Repo } from './repo.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const waitForever = ['-e', 'setInterval(() => {}, 1000)'];

describe('the surroundings of a test', () => {
  it('have a home of their own', () => {
    expect(process.env.HOME).toContain(tmpdir());
    expect(process.env.XDG_STATE_HOME).toContain(process.env.HOME);
    expect(tmpdir()).toContain('ralph-test-');
  });
});

describe('makeRepo', () => {
  let left: Repo;

  it("gives a clean repository with the files committed, and settings of the user's own", () => {
    left = makeRepo({ files: { 'src/a.txt': 'one\n' }, settings: { maximumIterations: 3 } });
    expect(left.git('status', '--porcelain')).toBe('');
    expect(left.git('ls-files').split('\n')).toEqual(['src/a.txt']);
    expect(left.read('src/a.txt')).toBe('one\n');
    expect(JSON.parse(left.read('.ralph/settings.json'))).toEqual({ maximumIterations: 3 });
    expect(left.git('log', '--format=%an')).toBe('Test');
  });

  it('is gone after the test', () => {
    expect(existsSync(left.cwd)).toBe(false);
    expect(existsSync(left.home)).toBe(false);
  });

  it('can be a plain folder', () => {
    const repo = makeRepo({ git: false, files: { 'a.txt': '' } });
    expect(repo.exists('.git')).toBe(false);
    expect(repo.exists('a.txt')).toBe(true);
  });

  it('takes every process with its home along', async () => {
    let pid = 0;
    await new Promise<void>((resolve) => {
      // onTestFinished runs the last one first, so this looks after the repository is gone.
      onTestFinished(() => waitUntil(() => !alive(pid)).then(() => {}));
      const repo = makeRepo();
      const child = spawn(process.execPath, waitForever, {
        env: { ...process.env, ...repo.env },
        stdio: 'ignore',
      });
      child.once('spawn', () => resolve());
      pid = child.pid ?? 0;
    });
    expect(alive(pid)).toBe(true);
  });
});

describe('processes', () => {
  it('are found by their run id and counted as dead when ended, zombie or not', async () => {
    const runId = `run-${process.pid}`;
    const env = { ...process.env, RALPH_RUN_ID: runId };
    // The shell becomes a program that never waits for the child it had, so the child stays as a zombie.
    const script = 'sleep 0.3 & echo $!; exec sleep 600';
    const shell = spawn('sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void shell.kill('SIGKILL'));
    const zombie = Number(
      await new Promise<string>((resolve) => shell.stdout.once('data', (data) => resolve(String(data)))),
    );
    await waitUntil(() => !alive(zombie));
    expect(() => process.kill(zombie, 0)).not.toThrow();
    expect(processesOfRun(runId)).toEqual([shell.pid]);

    shell.kill('SIGKILL');
    await waitUntil(() => processesOfRun(runId).length === 0);
    expect(alive(shell.pid ?? 0)).toBe(false);
  });

  it('that never do what is awaited are given up with a message', async () => {
    await expect(waitUntil(() => false, { timeoutMs: 50, what: 'a wonder' })).rejects.toThrow(/a wonder/);
    await expect(waitUntil(async () => 'there')).resolves.toBe('there');
  });
});

describe('startRalph', () => {
  it('runs the built command and gives its exit code and both streams', async () => {
    const repo = makeRepo();
    await expect(runRalph(['--version'], repo)).resolves.toMatchObject({ code: 0, signal: null, stderr: '' });
    const { code, stdout, stderr } = await runRalph(['--no-such-option'], { ...repo, input: 'unread' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--no-such-option');
  });

  it('says so when the folder is missing', () => {
    expect(() => startRalph(['--version'], { cwd: join(tmpdir(), 'nowhere') })).toThrow(
      /is the folder there/,
    );
  });
});

describe('the summary', () => {
  it('is the last line and counts every kind of test', async () => {
    const lines = await runSuite(`
      it('passes', () => {});
      it('passes too', () => {});
      it('fails', () => { throw new Error('no'); });
      it.skip('is skipped', () => {});
      it.todo('is to be done');
    `);
    expect(lines.at(-1)).toBe('2 passed, 1 failed, 2 skipped');
  });

  it('counts a file that cannot be loaded as a failure', async () => {
    const lines = await runSuite(`throw new Error('broken file');`);
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
  });

  it('counts an error outside of the tests as a failure', async () => {
    const lines = await runSuite(`it('passes', () => { Promise.reject(new Error('lost')); });`);
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
  });
});

async function runSuite(body: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'a.test.ts'), `import { it } from 'vitest';\n${body}`);
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { SummaryReporter } from ${JSON.stringify(join(root, 'test/support/summary-reporter.ts'))};
     export default { test: { reporters: ['default', new SummaryReporter()] } };`,
  );
  const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const chunks: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  await new Promise((resolve) => child.once('close', resolve));
  return chunks.join('').trimEnd().split('\n');
}
