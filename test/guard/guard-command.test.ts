import { describe, expect, it } from 'vitest';
import { runRalph } from '../support/ralph.ts';
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
    expect(lines.map(({ verdict, error }) => verdict ?? error)).toEqual([
      'allow',
      'deny',
      expect.stringContaining('command'),
    ]);
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

  it('follows the rules of the project', async () => {
    const repo = makeRepo({ files: { '.ralph/guard.json': '{"allow":[{"effect":"git"}]}' } });
    expect((await runRalph(['guard', 'check', 'git push --force'], repo)).code).toBe(0);
    repo.write('.ralph/guard.json', '{"allow":[{"effect":"everything"}]}');
    const broken = await runRalph(['guard', 'check', 'ls'], repo);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('.ralph/guard.json: allow[0].effect has to be');
  });
});
