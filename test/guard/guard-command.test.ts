import { describe, expect, it } from 'vitest';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';

/** The command of the guard itself is tested in packages/guard. */
describe('ralph guard', () => {
  it('checks a command by exit code and as JSON', async () => {
    const repo = makeRepo();
    const denied = await runRalph(['guard', 'check', '--json', 'rm -rf ~'], repo);
    expect(denied.code).toBe(1);
    expect(JSON.parse(denied.stdout)).toMatchObject({ verdict: 'deny', category: 'destructive-files' });
    const allowed = await runRalph(['guard', 'check', '--json', '--', 'npm', 'test', '--json'], repo);
    expect(allowed.code).toBe(0);
    expect(JSON.parse(allowed.stdout)).toEqual({ verdict: 'allow', category: null, reason: null });
  });

  it('reads many commands from standard input', async () => {
    const input = '{"command":"ls"}\nno command';
    const words = ['guard', 'check', '--stdin', '--json', '--attended'];
    const { code, stdout } = await runRalph(words, { ...makeRepo(), input });
    const verdicts = stdout.trimEnd().split('\n');
    expect([code, verdicts.map((line) => JSON.parse(line).verdict)]).toEqual([0, ['allow', 'warn']]);
  });

  it('explains the steps and their effects', async () => {
    const { code, stdout } = await runRalph(['guard', 'explain', 'bash -c "rm -rf x"'], makeRepo());
    expect(code).toBe(0);
    expect(stdout).toContain('bash -c rm -rf x\n  rm -rf x\n');
  });

  it('scores a corpus', async () => {
    const repo = makeRepo({ files: { 'c.jsonl': '{"command":"ls","verdict":"deny"}\n' } });
    const { code, stdout } = await runRalph(['guard', 'test', 'c.jsonl'], repo);
    expect([code, stdout]).toEqual([1, expect.stringContaining('missed: ls')]);
  });

  it('fails as every command of ralph does', async () => {
    const usage = await runRalph(['guard', 'check', '--stdin', 'ls'], makeRepo());
    expect(usage.code).toBe(2);
    expect(usage.stderr).toContain('error: ralph guard check: a command is given, and --stdin');
    expect(usage.stderr).toContain('try: ralph guard check --help');
    const repo = makeRepo({ files: { '.ralph/guard.json': '{"allow":[{"effect":"everything"}]}' } });
    const broken = await runRalph(['guard', 'check', 'ls'], repo);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('.ralph/guard.json: allow[0].effect has to be');
  });
});
