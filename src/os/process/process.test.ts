import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alive, processesOfRun, waitUntil } from '../../../test/support/processes.ts';
import { createFakeClock } from '../clock.ts';
import { endCommandsOn, type ProcessSpec, runCommand, startProcess, sweepRun } from './process.ts';

let folder = '';
let runId = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-'));
  runId = folder.slice(-14);
});
afterEach(async () => {
  for (const pid of processesOfRun(runId)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

/** A node program of these lines, as a command. */
function program(...lines: string[]): [string, ...string[]] {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.cjs`);
  writeFileSync(file, lines.join('\n'));
  return [process.execPath, file];
}

/** Starts it in the temp folder, with all output in one text. */
function start(argv: ProcessSpec['argv'], changes: Partial<ProcessSpec> = {}) {
  const output: Buffer[] = [];
  const running = startProcess({
    argv,
    cwd: folder,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: '' },
    runId,
    iteration: 1,
    stdin: null,
    idleMs: null,
    hardMs: null,
    termMs: 300,
    onStdout: (chunk) => output.push(chunk),
    onStderr: (chunk) => output.push(chunk),
    ...changes,
  });
  return { ...running, text: () => Buffer.concat(output).toString() };
}

/** Waits for a file that a program wrote, and reads the pid in it. */
async function pidIn(name: string): Promise<number> {
  const file = join(folder, name);
  await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  return Number(readFileSync(file, 'utf8'));
}

const ignoreTerm =
  "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000);";

describe('startProcess', () => {
  it('tells the exit code and delivers all output before it is done', async () => {
    const { done, text } = start(['sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect(await done).toEqual({ exitCode: 7, signal: null, cause: 'exited', sweptPids: [] });
    expect(text().split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('marks the process with the run and the iteration, in a group of its own', async () => {
    const { pid, done, text } = start(['sh', '-c', 'echo $RALPH_RUN_ID $RALPH_ITERATION; ps -o pgid= -p $$']);
    await done;
    expect(text().split(/\s+/)).toEqual([runId, '1', `${pid}`, '']);
  });

  it('gives the input and closes it', async () => {
    const { done, text } = start(['cat'], { stdin: 'a prompt of 8 µ' });
    expect((await done).exitCode).toBe(0);
    expect(text()).toBe('a prompt of 8 µ');
  });

  it('gives an empty input where there is none', async () => {
    const { done, text } = start(['sh', '-c', 'cat; echo end']);
    await done;
    expect(text()).toBe('end\n');
  });

  it('does not mind a child that never reads 5 MB of input', async () => {
    const { done } = start(['sh', '-c', 'exec 0<&-; exit 3'], { stdin: 'x'.repeat(5 * 1024 * 1024) });
    expect(await done).toMatchObject({ exitCode: 3, cause: 'exited' });
    const sleeper = start(['sleep', '60'], { stdin: 'x'.repeat(5 * 1024 * 1024) });
    sleeper.stop();
    expect(await sleeper.done).toMatchObject({ signal: 'SIGTERM', cause: 'stopped' });
  });

  it.each([
    ['a program that is not there', ['no-such-program-here'], 'ENOENT'],
    ['a file that may not be run', ['/etc/passwd'], 'EACCES'],
    ['a word that is too long', ['echo', 'x'.repeat(4 * 1024 * 1024)], 'E2BIG'],
    ['a word with a NUL', ['echo', 'a\0b'], 'ERR_INVALID_ARG_VALUE'],
  ] as const)('does not start %s', async (_what, argv, code) => {
    const { pid, done, stop, finish, touch } = start(argv);
    expect(pid).toBeNull();
    for (const call of [stop, finish, touch]) call();
    expect(await done).toMatchObject({
      cause: 'not-started',
      exitCode: null,
      sweptPids: [],
      error: { code },
    });
  });

  it('says so when it is the folder that is missing', async () => {
    const { error } = await start(['sh', '-c', 'true'], { cwd: join(folder, 'gone') }).done;
    expect(error?.message).toContain(`${join(folder, 'gone')} does not exist`);
  });

  it('kills a child that ignores TERM, and its children', async () => {
    const child = program(ignoreTerm, "require('fs').writeFileSync('child', process.pid + '\\n')");
    const { pid, done, stop } = start(
      program(ignoreTerm, `require('child_process').spawn(${JSON.stringify(child[0])}, ['${child[1]}'])`),
    );
    const childPid = await pidIn('child');
    stop();
    expect(await done).toMatchObject({ cause: 'stopped', signal: 'SIGKILL' });
    expect([pid, childPid].filter((id) => id !== null && alive(id))).toEqual([]);
  });

  it('ends what left the group, whether it heeds TERM or not', async () => {
    const daemon = program(ignoreTerm, "require('fs').writeFileSync('daemon', process.pid + '\\n')");
    const { done } = start([
      'sh',
      '-c',
      `setsid sleep 60 & setsid '${daemon.join("' '")}' & until test -s daemon; do sleep 0.02; done`,
    ]);
    const { sweptPids, cause, exitCode } = await done;
    const daemonPid = await pidIn('daemon');
    expect({ cause, exitCode }).toEqual({ cause: 'exited', exitCode: 0 });
    expect(sweptPids).toContain(daemonPid);
    expect(sweptPids).toHaveLength(2);
    expect(alive(daemonPid)).toBe(false);
    expect(processesOfRun(runId)).toEqual([]);
  });

  it('ends a grandchild of a double fork that closed its output', async () => {
    const { done } = start([
      'sh',
      '-c',
      '(setsid sh -c "echo \\$\\$ > daemon; exec sleep 60" </dev/null >/dev/null 2>&1 &) ; until test -s daemon; do sleep 0.02; done',
    ]);
    const { sweptPids } = await done;
    expect(sweptPids).toEqual([await pidIn('daemon')]);
  });

  it('ends a child that keeps the output open after the exit, and delivers what it wrote', async () => {
    const { done, text } = start([
      'sh',
      '-c',
      '(echo early; echo $$ > ready; exec sleep 60) & until test -s ready; do sleep 0.02; done',
    ]);
    expect(await done).toMatchObject({ exitCode: 0, cause: 'exited', sweptPids: [expect.any(Number)] });
    expect(text()).toBe('early\n');
  });

  it('is done although a process that cannot be found holds the output open', async () => {
    const daemon = 'env -i setsid sh -c "echo early; echo \\$\\$ > hidden; exec sleep 60"';
    const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    const before = pipes();
    const { done, text } = start(['sh', '-c', `${daemon} & until test -s hidden; do sleep 0.02; done`]);
    const end = await done;
    await waitUntil(() => pipes() === before);
    const hidden = await pidIn('hidden');
    process.kill(hidden, 'SIGKILL');
    expect(end).toMatchObject({ exitCode: 0, cause: 'exited', sweptPids: [] });
    expect(text()).toBe('early\n');
  });

  it('delivers every byte to a slow consumer and holds no more than a little of it', async () => {
    const megabytes = 200;
    let received = 0;
    let chunks = 0;
    let peak = 0;
    const { done } = start(['head', '-c', `${megabytes}M`, '/dev/zero'], {
      onStdout: (chunk) => {
        received += chunk.length;
        if (++chunks % 16 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      },
    });
    expect((await done).exitCode).toBe(0);
    expect(received).toBe(megabytes * 1024 * 1024);
    expect(peak).toBeLessThan(100 * 1024 * 1024);
  });

  it('ends a silent process after the idle time, but not one that is touched', async () => {
    const clock = createFakeClock();
    const { done, touch } = start(['sleep', '60'], { clock, idleMs: 1000 });
    await clock.advance(900);
    touch();
    await clock.advance(900);
    touch();
    await clock.advance(1000);
    expect(await done).toMatchObject({ cause: 'idle', signal: 'SIGTERM' });
    expect(clock.pending()).toBe(0);
  });

  it('ends a process at the hard timeout', async () => {
    const clock = createFakeClock();
    const { done } = start(['sleep', '60'], { clock, hardMs: 1000 });
    await clock.advance(1000);
    expect(await done).toMatchObject({ cause: 'hard-timeout', signal: 'SIGTERM' });
  });

  it('gives a process that never exits only the grace after its result', async () => {
    const clock = createFakeClock();
    const { done, finish, reopen } = start(['sleep', '60'], { clock, graceMs: 1000 });
    finish();
    await clock.advance(900);
    reopen();
    await clock.advance(5000);
    finish();
    await clock.advance(1000);
    expect(await done).toMatchObject({ cause: 'finished', signal: 'SIGTERM' });
  });

  it('lets a process that exits within the grace end by itself', async () => {
    const { done, finish } = start(['sh', '-c', 'echo result; exit 4'], { graceMs: 60_000 });
    finish();
    expect(await done).toMatchObject({ cause: 'exited', exitCode: 4 });
  });

  it('keeps the first reason for the end', async () => {
    const { done, stop } = start(['sleep', '60'], { idleMs: 1 });
    setTimeout(stop, 1000).unref();
    expect((await done).cause).toBe('idle');
    stop();
    expect((await done).cause).toBe('idle');
  });

  it('stops the tree when a handler throws, and tells what it threw', async () => {
    let calls = 0;
    const { done } = start(['yes'], {
      onStdout: () => {
        calls++;
        throw new Error('no space left');
      },
    });
    expect(await done).toMatchObject({ cause: 'stopped', error: { message: 'no space left' } });
    expect(calls).toBe(1);
  });

  it('leaves another process of the same iteration alone', async () => {
    const other = start(['sleep', '60']);
    expect(await start(['true']).done).toMatchObject({ exitCode: 0, sweptPids: [] });
    expect(alive(Number(other.pid))).toBe(true);
    other.stop();
    await other.done;
  });

  it('ends what a run inside the run started', async () => {
    const inner = program(
      "const { spawn } = require('child_process');",
      "const env = { ...process.env, RALPH_RUN_ID: 'inner', RALPH_TREE: process.env.RALPH_TREE + ',inner@1#x' };",
      "const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env });",
      'child.unref();',
      "require('fs').writeFileSync('inner', child.pid + '\\n');",
    );
    const { sweptPids } = await start(inner).done;
    expect(sweptPids).toEqual([await pidIn('inner')]);
  });
});

describe('sweepRun', () => {
  it('ends what carries the run, of all iterations or of one, but for the exceptions', async () => {
    const first = start(['sleep', '60'], { iteration: 1 });
    const second = start(['sleep', '60'], { iteration: 2 });
    const third = start(['sleep', '60'], { iteration: 2 });
    const fourth = start(['sleep', '60'], { iteration: 2 });
    const other = start(['sleep', '60'], { runId: `other-${runId}` });
    expect(await sweepRun(runId, { iteration: 2, except: [Number(third.pid), Number(fourth.pid)] })).toEqual([
      second.pid,
    ]);
    await second.done;
    expect((await sweepRun(runId)).sort()).toEqual([first.pid, third.pid, fourth.pid].sort());
    expect(await sweepRun(runId)).toEqual([]);
    expect(alive(Number(other.pid))).toBe(true);
    other.stop();
    await Promise.all([first, third, fourth, other].map(({ done }) => done));
  });

  it('ends with its children what hides where it comes from, and nothing that is to outlive it', async () => {
    const stubborn = 'trap "" TERM; echo $$ > hidden; while :; do sleep 0.05; done';
    const script = [
      `env -i PATH="$PATH" setsid sh -c '${stubborn}' & `,
      'env -i RALPH_DETACHED=1 PATH="$PATH" setsid sh -c \'echo $$ > detached; exec sleep 60\' & ',
      'wait',
    ].join('');
    const main = start(['sh', '-c', script]);
    const hidden = await pidIn('hidden');
    const detached = await pidIn('detached');
    try {
      expect(await sweepRun(runId, { children: true, termMs: 200 })).toContain(hidden);
      await main.done;
      expect([alive(hidden), alive(detached)]).toEqual([false, true]);
    } finally {
      process.kill(detached, 'SIGKILL');
    }
  });

  it('never ends ourselves or those that started us', async () => {
    const bundle = join(folder, 'system.cjs');
    buildSync({
      entryPoints: [new URL('process.ts', import.meta.url).pathname],
      bundle: true,
      platform: 'node',
      outfile: bundle,
    });
    const sweeper = program(
      `require('${bundle}').sweepRun('${runId}', { children: true }).then((pids) => require('fs').writeFileSync('swept', pids + '\\n'));`,
    );
    const { done } = start(['sh', '-c', `sleep 60 & echo $! > other; '${sweeper.join("' '")}'; exit 5`]);
    expect(await done).toMatchObject({ cause: 'exited', exitCode: 5 });
    expect(await pidIn('swept')).toBe(await pidIn('other'));
  });
});

describe('runCommand', () => {
  it('ends when it is told to stop, also by the signal for all commands of the process', async () => {
    for (const bind of [false, true]) {
      const stop = new AbortController();
      if (bind) endCommandsOn(stop.signal);
      const command = runCommand(['sleep', '60'], { cwd: folder, ...(bind ? {} : { stop: stop.signal }) });
      endCommandsOn(undefined);
      stop.abort();
      expect(await command).toMatchObject({ timedOut: true, signal: 'SIGTERM' });
    }
  });

  it('has five seconds after the stop', async () => {
    const stop = AbortSignal.abort();
    const [short, long] = await Promise.all(
      ['echo ok', 'echo ok; sleep 60'].map((command) =>
        runCommand(['sh', '-c', command], { cwd: folder, stop }),
      ),
    );
    expect(short).toMatchObject({ exitCode: 0, stdout: 'ok\n', timedOut: false });
    expect(long).toMatchObject({ timedOut: true, stdout: 'ok\n' });
  });

  it('gives both outputs and the exit code', async () => {
    const result = await runCommand(['sh', '-c', 'cat; echo err >&2; exit 2'], { cwd: folder, stdin: 'in' });
    expect(result).toEqual({
      exitCode: 2,
      signal: null,
      stdout: 'in',
      stderr: 'err\n',
      timedOut: false,
      truncated: false,
    });
  });

  it('keeps no more than the bytes allowed', async () => {
    const result = await runCommand(['sh', '-c', 'echo 123456789; echo abc >&2'], {
      cwd: folder,
      maxBytes: 4,
    });
    expect(result).toMatchObject({ stdout: '1234', stderr: 'abc\n', truncated: true, exitCode: 0 });
  });

  it('ends a command that takes too long, with children that ignore TERM', async () => {
    const command = '(trap "" TERM; exec sleep 60) & echo $! > child; wait';
    const result = await runCommand(['sh', '-c', command], { cwd: folder, timeoutMs: 1000 });
    expect(result).toMatchObject({ timedOut: true, exitCode: null });
    const child = await pidIn('child');
    await waitUntil(() => !alive(child));
  });

  it('is done when the command is, although a child of it holds the output', async () => {
    const result = await runCommand(['sh', '-c', 'sleep 60 & echo $! > child; echo ok'], { cwd: folder });
    const child = await pidIn('child');
    expect(alive(child)).toBe(true);
    process.kill(child, 'SIGKILL');
    expect(result).toMatchObject({ stdout: 'ok\n', exitCode: 0, timedOut: false });
  });

  it('tells why a command did not start', async () => {
    const result = await runCommand(['no-such-program-here'], { cwd: folder });
    expect(result).toMatchObject({ exitCode: null, timedOut: false, error: { code: 'ENOENT' } });
  });
});
