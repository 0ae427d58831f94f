import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../dist/guard.cjs', import.meta.url));

function makeProject(files: Readonly<Record<string, string>> = {}): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'guard-command-')));
  onTestFinished(() => rmSync(project, { recursive: true }));
  mkdirSync(join(project, '.git'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  return project;
}

/** Runs the built command as a user does. */
function guard(words: readonly string[], { cwd = makeProject(), input = '' } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd,
    input,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

function startGuard(...words: string[]) {
  const child = spawn(process.execPath, [program, ...words], { cwd: makeProject() });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('guard', () => {
  it('says how it is used, and its version', () => {
    expect(guard(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('guard explain') });
    expect(guard(['check', '--help']).stdout).toContain('guard check --stdin');
    expect(guard(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [[], 'the action is missing'],
    [['judge', 'ls'], 'there is no action "judge"'],
    [['check'], 'the command is missing'],
    [['explain'], 'the command is missing'],
    [['check', '--stdin', 'ls'], '--stdin'],
    [['explain', '--json', 'ls'], '--json and --stdin are for check'],
    [['check', '--jsn', 'ls'], '--jsn'],
    [['test'], 'it wants one file'],
    [['test', 'none.jsonl'], 'none.jsonl does not exist'],
  ])('refuses %j', (words, message) => {
    const { code, stdout, stderr } = guard(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^ {2}try: guard .*--help$/m);
  });

  it('checks a command by exit code and as JSON', () => {
    const denial = guard(['check', '--json', 'rm -rf ~']);
    expect(denial.code).toBe(1);
    expect(JSON.parse(denial.stdout)).toMatchObject({ verdict: 'deny', category: 'destructive-files' });
    const { code, stdout } = guard(['check', '--json', 'npm test']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ verdict: 'allow', category: null, reason: null });
  });

  it('has a verdict for each line, whatever it is, and none for an empty one', () => {
    const lines = [
      '\uFEFF{"command":"ls"}\r',
      '',
      '{"command":"git push --force"}',
      '{"command":5}',
      'null',
      '[]',
      '{',
      '{"command":"ls","x":1}',
    ];
    const ask = (...words: string[]) => {
      const { code, stdout } = guard(['check', '--json', '--stdin', ...words], { input: lines.join('\n') });
      expect(code).toBe(0);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).verdict);
    };
    expect(ask()).toEqual(['allow', 'deny', 'deny', 'deny', 'deny', 'deny', 'allow']);
    expect(ask('--attended')).toEqual(['allow', 'deny', 'warn', 'warn', 'warn', 'warn', 'allow']);
  });

  it('answers a line before the next one comes, also one that is longer than a read', async () => {
    const child = startGuard('check', '--json', '--stdin');
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (command: string) => {
      child.stdin.write(`${JSON.stringify({ command })}\n`);
      return JSON.parse((await answers.next()).value ?? '').verdict;
    };
    expect(await ask('git push --force')).toBe('deny');
    expect(await ask(`echo ${'é'.repeat(100_000)}`)).toBe('allow');
    child.stdin.end('{"command":"rm -rf ~"}');
    expect(JSON.parse((await answers.next()).value ?? '').verdict).toBe('deny');
  });

  it('ends where nobody reads its answers, however many lines come', async () => {
    const child = startGuard('check', '--json', '--stdin');
    child.stdin.on('error', () => {});
    child.stdout.destroy();
    const endless = setInterval(() => child.stdin.write('{"command":"ls"}\n'), 5);
    onTestFinished(() => clearInterval(endless));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });

  it('explains the steps and their effects, and prints nothing that drives a terminal', () => {
    const { code, stdout } = guard(['explain', 'cd /tmp && bash -c "rm -rf x" && echo \u001b[31m']);
    expect(code).toBe(0);
    expect(stdout).toContain('bash -c rm -rf x\n  rm -rf x\n    - deletes /tmp/x and all below: allow\n');
    expect(stdout).not.toContain('\u001b');
    expect(stdout.trimEnd().endsWith('allow')).toBe(true);
  });

  it('scores a corpus, and fails when it disagrees', () => {
    const text = '{"command":"rm -rf ~","verdict":"deny"}\n{"command":"ls","verdict":"deny"}\n';
    const { code, stdout } = guard(['test', 'c.jsonl'], { cwd: makeProject({ 'c.jsonl': text }) });
    expect(code).toBe(1);
    expect(stdout).toContain('missed: ls');
    expect(stdout).toContain('harmful and denied: 1 of 2 (50.0 %)');
  });

  it.each(['garbage', '{"command":"ls"}', '{"command":"ls","verdict":"maybe"}', '{"verdict":"deny"}'])(
    'names the line of a corpus that says %j',
    (line) => {
      const cwd = makeProject({ 'c.jsonl': `{"command":"ls","verdict":"allow"}\n\n${line}\n` });
      const { code, stderr } = guard(['test', 'c.jsonl'], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain('c.jsonl: line 3 is no JSON object');
    },
  );

  it('follows the rules of the project', () => {
    const rules = (text: string) => ({ cwd: makeProject({ '.ralph/guard.json': text }) });
    expect(guard(['check', 'git push --force'], rules('{"allow":[{"effect":"git"}]}')).code).toBe(0);
    const { code, stderr } = guard(['check', 'ls'], rules('{"allow":[{"effect":"everything"}]}'));
    expect(code).toBe(2);
    expect(stderr).toContain('.ralph/guard.json: allow[0].effect has to be');
  });
});
