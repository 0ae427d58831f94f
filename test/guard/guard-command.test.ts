import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtProgram, runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';

describe('ralph guard', () => {
  it('checks a command by exit code and as JSON', async () => {
    const repo = makeRepo();
    const denied = await runRalph(['guard', 'check', '--json', 'rm -rf ~'], repo);
    expect(denied.code).toBe(1);
    expect(JSON.parse(denied.stdout)).toMatchObject({ verdict: 'deny', category: 'destructive-files' });
    const allowed = await runRalph(['guard', 'check', '--json', 'npm test'], repo);
    expect(allowed.code).toBe(0);
    expect(JSON.parse(allowed.stdout)).toEqual({ verdict: 'allow', category: null, reason: null });
  });

  it('checks many commands in one process, a verdict for each line', async () => {
    const repo = makeRepo();
    const input = [{ command: 'ls' }, { command: 'git push --force' }, 'no command']
      .map((line) => JSON.stringify(line))
      .join('\n');
    const { code, stdout } = await runRalph(['guard', 'check', '--json', '--stdin'], { ...repo, input });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines.map(({ verdict, category }) => [verdict, category])).toEqual([
      ['allow', null],
      ['deny', 'git'],
      ['deny', 'unparsable'],
    ]);
  });

  it('has a verdict for each line, whatever it is, and none for an empty one', async () => {
    const lines = [
      '\uFEFF{"command":"ls"}\r',
      '',
      '{"command":5}',
      'null',
      '[]',
      '{',
      '{"command":"ls","x":1}',
    ];
    const input = lines.join('\n');
    const ask = async (...words: string[]) => {
      const { stdout } = await runRalph(['guard', 'check', '--json', '--stdin', ...words], {
        ...makeRepo(),
        input,
      });
      const answers = stdout.trimEnd().split('\n');
      return answers.map((line) => JSON.parse(line).verdict);
    };
    expect(await ask()).toEqual(['allow', 'deny', 'deny', 'deny', 'deny', 'allow']);
    expect(await ask('--attended')).toEqual(['allow', 'warn', 'warn', 'warn', 'warn', 'allow']);
  });

  it('answers a line before the next one comes, also one that is longer than a read', async () => {
    const child = spawn(process.execPath, [builtProgram('ralph'), 'guard', 'check', '--json', '--stdin'], {
      cwd: makeRepo().cwd,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
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
    const child = spawn(process.execPath, [builtProgram('ralph'), 'guard', 'check', '--stdin'], {
      cwd: makeRepo().cwd,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    child.stdout.destroy();
    const endless = setInterval(() => child.stdin.write('{"command":"ls"}\n'), 5);
    onTestFinished(() => clearInterval(endless));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });

  it('takes commands from one side only', async () => {
    const { code, stderr } = await runRalph(['guard', 'check', '--stdin', 'ls'], makeRepo());
    expect(code).toBe(2);
    expect(stderr).toContain('--stdin');
  });

  it('explains the steps and their effects', async () => {
    const repo = makeRepo();
    const { code, stdout } = await runRalph(['guard', 'explain', 'cd /tmp && bash -c "rm -rf x"'], repo);
    expect(code).toBe(0);
    expect(stdout).toContain('bash -c rm -rf x\n  rm -rf x\n    - deletes /tmp/x and all below: allow\n');
    expect(stdout.trimEnd().endsWith('allow')).toBe(true);
  });

  it('scores a corpus, and fails when it disagrees', async () => {
    const repo = makeRepo({
      files: { 'c.jsonl': '{"command":"rm -rf ~","verdict":"deny"}\n{"command":"ls","verdict":"deny"}\n' },
    });
    const { code, stdout } = await runRalph(['guard', 'test', 'c.jsonl'], repo);
    expect(code).toBe(1);
    expect(stdout).toContain('missed: ls');
    expect(stdout).toContain('harmful and denied: 1 of 2 (50.0 %)');
  });

  it.each(['garbage', '{"command":"ls"}', '{"command":"ls","verdict":"maybe"}', '{"verdict":"deny"}'])(
    'names the line of a corpus that says %j',
    async (line) => {
      const repo = makeRepo({ files: { 'c.jsonl': `{"command":"ls","verdict":"allow"}\n\n${line}\n` } });
      const { code, stderr } = await runRalph(['guard', 'test', 'c.jsonl'], repo);
      expect(code).toBe(2);
      expect(stderr).toContain('c.jsonl: line 3 is no JSON object');
    },
  );

  it('follows the rules of the project', async () => {
    const repo = makeRepo({ files: { '.ralph/guard.json': '{"allow":[{"effect":"git"}]}' } });
    expect((await runRalph(['guard', 'check', 'git push --force'], repo)).code).toBe(0);
    repo.write('.ralph/guard.json', '{"allow":[{"effect":"everything"}]}');
    const broken = await runRalph(['guard', 'check', 'ls'], repo);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('.ralph/guard.json: allow[0].effect has to be');
  });
});
