import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { alive } from '../../test/support/processes.ts';
import {
  bundleFakeAgent,
  ended,
  type FakeRun,
  prepare,
  runFake,
  start,
  streamArguments,
} from '../../test/testkit/run-fake.ts';
import type { Flood, Script, ScriptTurn, Step } from './script.ts';

let program = '';
beforeAll(() => {
  program = bundleFakeAgent();
});

const plain = (...steps: Step[]): Script => ({ agent: 'custom', turns: [{ steps }] });
const turns = (...list: ScriptTurn[]): Script => ({ agent: 'custom', turns: list });
const run = (options: FakeRun) => runFake(program, options);

describe('the fake agent', () => {
  it('runs a shell step in its folder and shows both streams in order with the exit status', async () => {
    const { stdout, dir } = await run({
      script: plain({ shell: 'echo a; echo b >&2; echo c > made; exit 3' }),
    });
    expect(stdout).toBe('$ echo a; echo b >&2; echo c > made; exit 3\na\nb\n');
    expect(readFileSync(join(dir, 'made'), 'utf8')).toBe('c\n');
  });

  it('is not held up by a process that a shell step leaves in the background', async () => {
    const { stdout, code } = await run({ script: plain({ shell: 'sleep 600 & echo $!' }, { text: 'done' }) });
    const pid = Number(stdout.split('\n')[1]);
    onTestFinished(() => kill(pid));
    expect(alive(pid)).toBe(true);
    expect(stdout).toContain('done\n');
    expect(code).toBe(0);
  });

  it('writes files, with their folders', async () => {
    const { dir } = await run({ script: plain({ write: { path: 'a/b.txt', content: 'c' } }) });
    expect(readFileSync(join(dir, 'a/b.txt'), 'utf8')).toBe('c');
  });

  it('reports a write that fails as a failed tool', async () => {
    const step: Step = { write: { path: 'script.json/a', content: '' } };
    const { stdout, code } = await run({ script: { agent: 'claude', turns: [{ steps: [step] }] } });
    expect(stdout).toContain('"is_error":true');
    expect(code).toBe(0);
  });

  it('fills in the prompt and the iteration once, as they are', async () => {
    const input = '$& {{iteration}}';
    const steps: Step[] = [
      { text: '{{iteration}}: {{prompt}}' },
      { write: { path: '{{iteration}}.txt', content: '{{prompt}}' } },
    ];
    const { stdout, dir } = await run({ script: plain(...steps), input, env: { RALPH_ITERATION: '7' } });
    expect(stdout).toContain('7: $& {{iteration}}\n');
    expect(readFileSync(join(dir, '7.txt'), 'utf8')).toBe(input);
  });

  it('prints garbage and errors just as they are', async () => {
    const { stdout, stderr } = await run({ script: plain({ raw: '{"torn' }, { stderr: 'oops' }) });
    expect({ stdout, stderr }).toEqual({ stdout: '{"torn\n', stderr: 'oops\n' });
  });

  it('plays one turn at each start, then the last one again', async () => {
    const script = turns({ steps: [{ text: 'one' }] }, { steps: [{ text: 'two' }], exitCode: 4 });
    const place = prepare(script);
    const ends = [];
    for (let count = 0; count < 3; count += 1) ends.push(await ended(start(program, place)));
    expect(ends.map(({ stdout, code }) => [stdout, code])).toEqual([
      ['one\n', 0],
      ['two\n', 4],
      ['two\n', 4],
    ]);
  });

  it('fails after the last turn where the script says so', async () => {
    const place = prepare({ ...plain({ text: 'one' }), after: 'fail' });
    await ended(start(program, place));
    const second = await ended(start(program, place));
    expect(second).toMatchObject({
      code: 96,
      stderr: 'fake agent: the script has 1 turns and this is turn 2\n',
    });
  });

  it('gives agents that start at once a turn each', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `turn ${index}\n`);
    const place = prepare(turns(...names.map((name) => ({ steps: [{ text: name.trim() }] }))));
    const ends = await Promise.all(names.map(() => ended(start(program, place))));
    expect(ends.map(({ stdout }) => stdout).sort()).toEqual([...names].sort());
  });

  it('plays the turn that --turn names and leaves the count alone', async () => {
    const place = prepare(turns({ steps: [{ text: 'one' }] }, { steps: [{ text: 'two' }] }));
    const { stdout } = await ended(start(program, place, { args: ['--turn', '2'] }));
    expect(stdout).toBe('two\n');
    expect(existsSync(`${place.scriptPath}.turn`)).toBe(false);
  });

  it('finds its script in the environment', async () => {
    const place = prepare(plain({ text: 'one' }));
    const env = { ...process.env, RALPH_FAKE_SCRIPT: place.scriptPath };
    expect(execFileSync(process.execPath, [program], { env, encoding: 'utf8', input: '' })).toBe('one\n');
  });

  it('exits with 97 when the prompt lacks a text that the turn expects', async () => {
    const script = turns({ steps: [{ text: 'one' }], expectPrompt: ['task', 'feedback'] });
    expect(await run({ script, input: 'the task' })).toMatchObject({
      code: 97,
      stdout: '',
      stderr: 'fake agent: turn 1 expected the prompt to contain "feedback"\n',
    });
    expect(await run({ script, input: 'the task and the feedback' })).toMatchObject({
      code: 0,
      stdout: 'one\n',
    });
  });

  it('exits with 96 and one line when the script is wrong', async () => {
    const place = prepare(plain());
    writeFileSync(place.scriptPath, '{"agent":"claude","turns":[{"steps":[{"say":"hi"}]}]}');
    const { code, stderr } = await ended(start(program, place));
    expect(code).toBe(96);
    expect(stderr).toMatch(/^fake agent: The fake agent's script is wrong: .*steps\[0\] has no "say".*\n$/);
  });

  it('records what it was given when the script asks for it', async () => {
    const script: Script = { ...plain({ text: 'one' }), record: true };
    const env = { RALPH_RUN_ID: 'r1', RALPH_ITERATION: '2', SECRET: 's' };
    const { dir } = await run({ script, args: ['--flag'], input: 'é'.repeat(1_000_000), env });
    const call = JSON.parse(readFileSync(join(dir, 'script.json.calls.ndjson'), 'utf8'));
    expect(call).toMatchObject({ turn: 1, argv: ['--flag'], prompt: 'é'.repeat(1_000_000), cwd: dir });
    expect(call.env).toEqual({ RALPH_RUN_ID: 'r1', RALPH_ITERATION: '2' });
  });

  it('answers --version as the CLI does and takes no turn for it', async () => {
    const script: Script = { ...plain({ text: 'one' }), agent: 'claude' };
    const { stdout, dir } = await run({ script, args: ['--version'] });
    expect(stdout).toBe('2.1.325 (Claude Code)\n');
    expect(existsSync(join(dir, 'script.json.turn'))).toBe(false);
    expect((await run({ script: { ...script, version: '9.9.9' }, args: ['--version'] })).stdout).toBe(
      '9.9.9\n',
    );
  });

  it('prints the last answer alone when nobody asks for events', async () => {
    const script: Script = {
      ...plain({ text: 'first' }, { shell: 'true' }, { text: 'last' }),
      agent: 'claude',
    };
    expect((await run({ script, args: ['-p'] })).stdout).toBe('last\n');
  });

  it('leaves out the end of the turn where the script says so', async () => {
    const steps: Step[] = [{ text: 'one' }];
    const ended = await run({ script: { agent: 'claude', turns: [{ steps }] } });
    const open = await run({ script: { agent: 'claude', turns: [{ steps, noResult: true }] } });
    expect(ended.stdout).toContain('"type":"result"');
    expect(open.stdout).not.toContain('"type":"result"');
  });

  it('fails or not as its result says, whatever came before', async () => {
    const error: Step = { error: { status: 500, message: 'down' } };
    const codes = [[error], [error, { result: {} }], [{ result: { ok: false } }]].map(async (steps) => {
      const { code } = await run({ script: { agent: 'claude', turns: [{ steps }] } });
      return code;
    });
    expect(await Promise.all(codes)).toEqual([1, 0, 1]);
  });

  it('writes its result where the script puts it, with the usage that it gives', async () => {
    const steps: Step[] = [
      { result: { ok: false, usage: { inputTokens: 7 }, costUsd: 2 } },
      { text: 'after the end' },
    ];
    const { stdout } = await run({ script: { agent: 'claude', turns: [{ steps }] } });
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(['system', 'result', 'assistant']);
    expect(events[1]).toMatchObject({ is_error: true, total_cost_usd: 2, usage: { input_tokens: 7 } });
  });
});

describe('a fake agent that will not end', () => {
  const waiting: Step = { shell: 'until [ -e go ]; do sleep 0.02; done' };

  it('ends at a signal', async () => {
    const child = startAndKill({ script: plain({ text: 'ready' }, { hang: true }) });
    child.stdout.once('data', () => child.kill('SIGTERM'));
    expect(await ended(child)).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it('outlives signals where the script says so', async () => {
    const place = prepare(plain({ ignoreSignals: true }, { text: 'ready' }, waiting, { text: 'survived' }));
    const child = start(program, place);
    child.stdout.once('data', () => {
      child.kill('SIGTERM');
      child.kill('SIGINT');
      writeFileSync(join(place.dir, 'go'), '');
    });
    const { stdout, code } = await ended(child);
    expect(stdout).toContain('survived');
    expect(code).toBe(0);
  });

  it('stays after its result where the script says so', async () => {
    const script: Script = { agent: 'claude', turns: [{ steps: [{ text: 'hi' }], hangAfterResult: true }] };
    const child = startAndKill({ script, args: streamArguments.claude });
    const seen = await outputUntil(child.stdout, '"type":"result"');
    expect(seen).toContain('"text":"hi"');
    child.kill('SIGTERM');
    expect((await ended(child)).signal).toBe('SIGTERM');
  });

  it('leaves a child behind, in a session of its own and with the output open', async () => {
    const place = prepare(
      plain({ child: { seconds: 600, setsid: true, holdOutput: true } }, { text: 'bye' }),
    );
    const child = start(program, place);
    const end = ended(child);
    await new Promise((done) => child.once('exit', done));
    const [left = 0] = readFileSync(`${place.scriptPath}.children`, 'utf8').trim().split('\n').map(Number);
    onTestFinished(() => kill(left));
    expect(alive(left)).toBe(true);
    expect(groupOf(left)).toBe(left);
    expect(child.stdout.closed).toBe(false);
    kill(left);
    expect((await end).stdout).toBe('bye\n');
  });
});

describe('a flood', () => {
  const floods: [string, Flood, 'custom' | 'claude'][] = [
    ['many lines', { bytes: 200_000_000, lineBytes: 1_000_000, as: 'text' }, 'custom'],
    ['one line', { bytes: 200_000_000, lineBytes: 200_000_000, as: 'text' }, 'custom'],
    ['the output of tools', { bytes: 200_000_000, lineBytes: 50_000_000, as: 'tool' }, 'claude'],
  ];

  it.each(floods)('of 200 MB as %s keeps the agent small', async (_name, flood, agent) => {
    const script: Script = { agent, turns: [{ steps: [{ flood }], hangAfterResult: true, noResult: true }] };
    const child = startAndKill({ script, args: streamArguments[agent] });
    let bytes = 0;
    await new Promise<void>((done) => {
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= flood.bytes) done();
      });
    });
    expect(peakMemory(child.pid ?? 0)).toBeLessThan(120_000_000);
  });

  it('is made of lines that a reader of the stream can parse', async () => {
    const floods: Step[] = [
      { flood: { bytes: 30_000, lineBytes: 10_000, as: 'tool' } },
      { flood: { bytes: 10_000, lineBytes: 10_000, as: 'text' } },
    ];
    const { stdout } = await run({ script: { agent: 'claude', turns: [{ steps: floods }] } });
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.filter(({ type }) => type === 'user')).toHaveLength(3);
    expect(events.at(-2).message.content[0].text).toBe('x'.repeat(10_000));
  });
});

function startAndKill({ script, ...options }: FakeRun) {
  const child = start(program, prepare(script), options);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function kill(pid: number): void {
  if (alive(pid)) process.kill(pid, 'SIGKILL');
}

function outputUntil(stream: NodeJS.ReadableStream, text: string): Promise<string> {
  let seen = '';
  return new Promise((done) => {
    stream.on('data', (chunk: Buffer) => {
      seen += chunk;
      if (seen.includes(text)) done(seen);
    });
  });
}

function groupOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'pgid=', '-p', `${pid}`], { encoding: 'utf8' }));
}

/** The most memory that the process ever had, in bytes; what it has now where the system does not tell. */
function peakMemory(pid: number): number {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' })) * 1024;
}
