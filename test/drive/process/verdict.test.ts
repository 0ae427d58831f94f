import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { repoWith, runArgs, show, tag, work } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { type RunResult, runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

const claims = { steps: [work, { text: `All finished.\n${tag}` }] };
const claimsIdly = { steps: [{ text: tag }] };
const works = { steps: [work, { text: 'More to do.' }] };

type Printed = {
  readonly run: string;
  readonly verdicts: readonly {
    readonly iteration: number;
    readonly claim: string;
    readonly accepted: boolean;
    readonly because: string;
    readonly evidence: readonly { readonly check: string; readonly ok: boolean }[];
    readonly rejudged: {
      readonly accepted: boolean;
      readonly because: string;
      readonly same: boolean;
    } | null;
  }[];
  readonly same: boolean;
};

async function verdict(repo: Repo): Promise<RunResult & { readonly printed: Printed }> {
  const result = await runRalph(['verdict', '--json'], repo);
  return { ...result, printed: JSON.parse(result.stdout) as Printed };
}

async function pathOf(repo: Repo, ...parts: string[]): Promise<string> {
  return repo.path('.ralph/runs', (await show(repo)).run, ...parts);
}

async function edit(repo: Repo, file: string, from: string | RegExp, to: string): Promise<void> {
  const path = await pathOf(repo, ...file.split('/'));
  const before = readFileSync(path, 'utf8');
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
}

describe('ralph verdict', () => {
  it('prints each claim with its evidence, and that it would be judged the same', async () => {
    const repo = await repoWith([claimsIdly, works, claims]);
    expect((await runRalph(runArgs(3), repo)).code).toBe(0);
    const { code, stdout, stderr } = await runRalph(['verdict'], repo);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'Iteration  Verdict   Check       Evidence',
      expect.stringMatching(/^1 {10}rejected {2}turn {8}\S+ finished$/),
      expect.stringMatching(/^ {21}tool-calls {2}\S+ 0 tool calls succeeded, at least 1 wanted$/),
      expect.stringMatching(/^3 {10}accepted {2}turn {8}\S+ finished$/),
      expect.stringMatching(/^ {21}tool-calls {2}\S+ 2 tool calls$/),
      '',
      'Iteration  Judged again',
      '1          same',
      '2          same (no claim)',
      '3          same',
      '',
    ]);
  });

  it('gives programs both judgements of every iteration', async () => {
    const repo = await repoWith([claimsIdly, works, claims]);
    await runRalph(runArgs(3), repo);
    const { run } = await show(repo);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    const no = { accepted: false, because: 'there was no claim to judge' };
    const rejected = { accepted: false, because: 'tool-calls: 0 tool calls succeeded, at least 1 wanted' };
    const accepted = { accepted: true, because: 'passed: turn, tool-calls' };
    expect(printed).toMatchObject({
      run,
      verdicts: [
        { iteration: 1, claim: 'done', ...rejected, rejudged: { ...rejected, same: true } },
        { iteration: 2, claim: 'none', ...no, evidence: [], rejudged: { ...no, same: true } },
        { iteration: 3, claim: 'done', ...accepted, rejudged: { ...accepted, same: true } },
      ],
      same: true,
    });
    expect(printed.verdicts[0]?.evidence).toEqual((await show(repo)).verdicts[0]?.evidence);
  });

  it.each([
    'claude',
    'codex',
    'amp',
    'opencode',
    'gemini',
    'copilot',
    'qwen',
    'pi',
    'cline',
    'custom',
  ] as const)('reads the streams of %s again', async (agent) => {
    const repo = makeRepo({ settings: { agent: { command: agent }, minToolCalls: 1 } });
    await installFakeAgent(repo.bin, { agent, script: { turns: [claimsIdly, works, claims] } });
    expect((await runRalph(runArgs(3, '--permissions', 'full'), repo)).code).toBe(0);
    const { printed } = await verdict(repo);
    expect(
      printed.verdicts.map(({ claim, rejudged }) => [claim, rejudged?.accepted, rejudged?.same]),
    ).toEqual([
      ['done', false, true],
      ['none', false, true],
      ['done', true, true],
    ]);
  });

  it("reads an agent of the user's own as it was read, also after a change of the agent", async () => {
    const args = ['-p', '--output-format', 'stream-json', '--verbose'];
    const own = { command: 'mine', args, output: 'claude-stream-json' };
    const repo = makeRepo({ settings: { agent: own, minToolCalls: 1 } });
    await installFakeAgent(repo.bin, { agent: 'claude', name: 'mine', script: { turns: [claimsIdly] } });
    await installFakeAgent(repo.bin, { agent: 'codex', script: { turns: [claims] } });
    expect((await runRalph(runArgs(1), repo)).code).toBe(1);
    repo.write('.ralph/settings.json', '{"agent":{"command":"codex"}}');
    expect((await runRalph(['run', '--resume', '-m', '2'], repo)).code).toBe(0);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    expect(printed.verdicts.map(({ rejudged }) => rejudged?.because)).toEqual([
      'tool-calls: 0 tool calls succeeded, at least 1 wanted',
      'passed: turn, tool-calls',
    ]);
  });

  it('takes what was checked outside as it was recorded', async () => {
    const spoils = { steps: [{ shell: 'echo no > test.txt' }, { text: tag }] };
    const mends = { steps: [{ shell: 'git checkout --quiet test.txt' }, work, { text: tag }] };
    const repo = await repoWith(
      [claims, spoils, mends, claims],
      {
        guardrails: [{ command: 'test $(wc -l < work.txt) -ge 1' }],
        protectedPaths: ['test.txt'],
        verify: ['test $(wc -l < work.txt) -ge 3'],
      },
      { files: { 'test.txt': 'yes\n', 'work.txt': '' } },
    );
    expect((await runRalph(runArgs(4), repo)).code).toBe(0);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    expect(printed.verdicts.map(({ rejudged }) => rejudged?.because)).toEqual([
      'verify: test $(wc -l < work.txt) -ge 3: exit code 1',
      'protected-paths: test.txt (changed)',
      'verify: test $(wc -l < work.txt) -ge 3: exit code 1',
      expect.stringContaining('passed: turn, tool-calls, guardrail: test $(wc -l < work.txt) -ge 1'),
    ]);
  });

  it('says why a turn failed, in the words that were recorded', async () => {
    const crashes = {
      steps: [work, { text: tag }, { stderr: 'out of luck\n' }],
      noResult: true,
      exitCode: 1,
    };
    const repo = await repoWith([crashes]);
    await runRalph(runArgs(1), repo);
    const { printed } = await verdict(repo);
    expect(printed.verdicts[0]).toMatchObject({
      because: expect.stringContaining('out of luck'),
      rejudged: { because: printed.verdicts[0]?.because, same: true },
    });
  });

  it('finds done patterns and calls for a human again', async () => {
    const asks = { steps: [work, { text: '<promise>DECIDE: tabs or spaces?</promise>' }] };
    const repo = await repoWith([{ steps: [{ text: 'SHIPPED 1' }] }, asks]);
    expect((await runRalph(['run', '-p', 'x', '--done-pattern', '^SHIPPED \\d+$'], repo)).code).toBe(4);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    expect(printed.verdicts).toMatchObject([
      { claim: 'done', accepted: false, rejudged: { same: true } },
      { claim: 'decide', because: 'tabs or spaces?', rejudged: { because: 'tabs or spaces?', same: true } },
    ]);
  });
});

describe('a judgement that would now be another one', () => {
  it('is told, with 1', async () => {
    const repo = await repoWith([claims]);
    await runRalph(runArgs(1), repo);
    await edit(repo, 'iterations/001.ndjson', tag, 'as good as done');
    const { code, stdout } = await runRalph(['verdict'], repo);
    expect(code).toBe(1);
    expect(stdout).toContain('DIFFERENT: was accepted (passed: turn, tool-calls), would now be no claim\n');
  });

  it('shows a claim that was missed', async () => {
    const repo = await repoWith([works]);
    await runRalph(runArgs(1), repo);
    await edit(repo, 'iterations/001.ndjson', 'More to do.', `All finished.\\n${tag}`);
    const { code, stdout } = await runRalph(['verdict'], repo);
    expect(code).toBe(1);
    expect(stdout).toContain('No claim was made.');
    expect(stdout).toContain('DIFFERENT: was no claim, would now be accepted (passed: turn, tool-calls)\n');
    expect((await verdict(repo)).printed).toMatchObject({
      verdicts: [{ claim: 'none', accepted: false, rejudged: { accepted: true, same: false } }],
      same: false,
    });
  });

  it('is another one too when it fails for another reason, but not when it is only worded otherwise', async () => {
    const repo = await repoWith([claimsIdly]);
    await runRalph(runArgs(1), repo);
    await edit(repo, 'journal.ndjson', 'at least 1 wanted', 'one more please');
    expect((await verdict(repo)).code).toBe(0);
    await edit(
      repo,
      'journal.ndjson',
      /"end":"finished","exitCode":0,(.*?)"cause":"\w+"/,
      '"end":"finished","exitCode":9,$1"cause":"exited"',
    );
    const { code, stdout } = await runRalph(['verdict'], repo);
    expect(code).toBe(1);
    expect(stdout).toMatch(/DIFFERENT: was rejected \(tool-calls: .*\), would now be rejected \(turn: .*\)/);
  });

  it('cannot drive the terminal', async () => {
    const repo = await repoWith([works]);
    await runRalph(runArgs(1), repo);
    await edit(
      repo,
      'iterations/001.ndjson',
      'More to do.',
      '<promise>BLOCKED: \\u001b[31mred\\nline</promise>',
    );
    const { stdout } = await runRalph(['verdict'], repo);
    expect(stdout).toContain('would now be blocked (red line)\n');
  });
});

describe('a record that is not whole', () => {
  it('a stream that is gone is told, and the rest is judged with what it had counted', async () => {
    const repo = await repoWith([works, claimsIdly]);
    expect((await runRalph(runArgs(2), repo)).code).toBe(0);
    rmSync(await pathOf(repo, 'iterations', '001.ndjson'));
    const { code, stdout } = await runRalph(['verdict'], repo);
    expect(code).toBe(0);
    expect(stdout).toContain("1          cannot be judged again: the agent's stream is missing\n");
    expect(stdout).toContain('2          same\n');
    const { printed } = await verdict(repo);
    expect(printed.verdicts.map(({ rejudged }) => rejudged)).toEqual([
      null,
      { accepted: true, because: 'passed: turn, tool-calls', same: true },
    ]);
  });

  it('a killed run is judged as far as it came', async () => {
    const repo = await repoWith([claimsIdly, { steps: [{ text: `Working.\n${tag}` }, { hang: true }] }]);
    const running = startRalph(runArgs(3), repo);
    await waitUntil(() => running.output.stdout.includes('Working.'));
    running.child.kill('SIGKILL');
    await running.done;
    const { code, stdout } = await runRalph(['verdict'], repo);
    expect(code).toBe(0);
    expect(stdout).toContain('1          same\n2          not judged: the run did not get that far\n');
    expect((await verdict(repo)).printed.verdicts).toHaveLength(1);
  });

  it('a run that was stopped and resumed with another promise is judged by what held then', async () => {
    const repo = await repoWith(
      [
        claimsIdly,
        { steps: [{ shell: 'touch slow' }, { text: tag }] },
        { steps: [{ shell: 'rm slow' }, { text: tag }] },
        { steps: [{ text: '<promise>READY</promise>' }] },
      ],
      { guardrails: [{ command: 'test ! -e slow || { touch checking; sleep 600; }' }] },
    );
    const running = startRalph(runArgs(4), repo);
    await waitUntil(() => repo.exists('checking'));
    running.child.kill('SIGINT');
    await waitUntil(() => running.output.stderr.includes('Received signal'));
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    expect((await runRalph(['run', '--resume', '--completion-promise', 'READY'], repo)).code).toBe(0);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    expect(
      printed.verdicts.map(({ iteration, claim, rejudged }) => [iteration, claim, rejudged?.same]),
    ).toEqual([
      [1, 'done', true],
      [2, 'none', true],
      [2, 'none', true],
      [3, 'done', true],
    ]);
  });

  it('an iteration that was run again after a limit is judged once for each go', async () => {
    const resetsAt = Math.ceil(Date.now() / 1000) + 1;
    const limited = { steps: [work, { error: { status: 429, message: 'usage limit reached', resetsAt } }] };
    const repo = await repoWith([limited, claimsIdly]);
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    const { code, printed } = await verdict(repo);
    expect(code).toBe(0);
    expect(printed.verdicts.map(({ iteration, rejudged }) => [iteration, rejudged?.because])).toEqual([
      [1, 'there was no claim to judge'],
      [1, 'passed: turn, tool-calls'],
    ]);
  });

  it('a line of the journal that is damaged is counted aloud', async () => {
    const repo = await repoWith([claims]);
    await runRalph(runArgs(1), repo);
    await edit(repo, 'journal.ndjson', '{"v":1,"seq":2,', '{"v":1,"seq":');
    const { code, stdout, stderr } = await runRalph(['verdict'], repo);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'warning: 1 damaged line in the journal was skipped\n',
    });
    expect(stdout).toContain('1          same\n');
  });

  it('a run with a damaged line says so when it is resumed', async () => {
    const repo = await repoWith([works, claims]);
    await runRalph(runArgs(1), repo);
    await edit(repo, 'journal.ndjson', '{"v":1,"seq":2,', '{"v":1,"seq":');
    const { code, stderr } = await runRalph(['run', '--resume', '-m', '2'], repo);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'warning: 1 damaged line in the journal was skipped\n',
    });
  });

  it.each([
    ['no run at all', null, 'there is no run in this folder yet'],
    ['a journal without a beginning', ['"run.started"', '"run.begun"'], 'does not tell how it started'],
    ['an agent of another time', ['"agent":"claude"', '"agent":"robot"'], 'does not know its agent "robot"'],
  ] as const)('%s is told in one sentence, with 2', async (_, change, sentence) => {
    const repo = await repoWith([claims]);
    if (change) {
      await runRalph(runArgs(1), repo);
      await edit(repo, 'journal.ndjson', change[0], change[1]);
    }
    const { code, stdout, stderr } = await runRalph(['verdict'], repo);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr).toContain('try: ralph ');
  });

  it('a stream of any size is read in little memory', async () => {
    const repo = await repoWith([claims]);
    await runRalph(runArgs(1), repo);
    const path = await pathOf(repo, 'iterations', '001.ndjson');
    const end = readFileSync(path);
    const line = Buffer.from(`${JSON.stringify({ type: 'unknown', fill: 'x'.repeat(1_000_000) })}\n`);
    const fd = openSync(path, 'w');
    for (let i = 0; i < 200; i++) writeSync(fd, line);
    writeSync(fd, end);
    closeSync(fd);
    const env = { ...repo.env, NODE_OPTIONS: '--max-old-space-size=48' };
    expect((await runRalph(['verdict'], { ...repo, env })).code).toBe(0);
  });
});
