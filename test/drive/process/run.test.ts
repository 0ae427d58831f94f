import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, tag, work } from '../../support/agent.ts';
import { alive, processesOfRun, waitUntil } from '../../support/processes.ts';
import { runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo } from '../../support/repo.ts';

describe('what the agent is told about its claim', () => {
  it('a claim without a tool call is rejected, with the reason in the next prompt', async () => {
    const repo = await repoWith([{ steps: [{ text: tag }] }, { steps: [work, { text: tag }] }]);
    expect((await runRalph(runArgs(3), repo)).code).toBe(0);
    const [first, second] = (await show(repo)).verdicts;
    expect(first).toMatchObject({
      iteration: 1,
      accepted: false,
      because: expect.stringContaining('0 tool calls'),
    });
    expect(second).toMatchObject({ iteration: 2, accepted: true });
    expect((await repo.agent.calls())[1]?.prompt).toContain('no tool calls/work were performed');
  });

  it('a failing guardrail rejects the claim and its output goes into the next prompt', async () => {
    const repo = await repoWith(
      [{ steps: [work, { text: tag }] }, { steps: [{ shell: 'touch ok' }, { text: tag }] }],
      {
        guardrails: [
          { command: 'echo checking; test -f ok', failAction: 'APPEND', hint: 'Make the file ok.' },
        ],
      },
    );
    const { code, stdout } = await runRalph(runArgs(3), repo);
    expect(code).toBe(0);
    expect(stdout).toContain('Guardrail "echo checking; test -f ok" failed with exit code 1');
    expect((await repo.agent.calls())[1]?.prompt).toContain(
      [
        'Do the task.',
        '',
        'Guardrail "echo checking; test -f ok" failed with exit code 1.',
        'Hint: Make the file ok.',
        'Output file: .ralph/guardrail_1_echo_checking_test_f_ok.log',
        'Output:',
        'checking',
      ].join('\n'),
    );
    expect(repo.read('.ralph/guardrail_1_echo_checking_test_f_ok.log')).toBe('checking\n');
  });
});

describe('how a process ends', () => {
  it('the result is the end: an agent that never exits is ended with its tree', async () => {
    const child = { child: { seconds: 600, setsid: true, holdOutput: true } };
    const repo = await repoWith([{ steps: [child, work, { text: tag }], hangAfterResult: true }], {
      exitGrace: '300ms',
    });
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    expect(repo.agent.children()).toHaveLength(1);
    expect(repo.agent.children().filter(alive)).toEqual([]);
    expect(processesOfRun((await show(repo)).run)).toEqual([]);
  });

  it.each([
    ['SIGTERM', 1],
    ['SIGINT', 2],
  ] as const)(
    '%s to the loop alone ends the tree, with 130 and a whole journal',
    async (signal, times) => {
      const child = { child: { seconds: 600, setsid: true } };
      const repo = await repoWith([
        { steps: [child, { ignoreSignals: true }, { text: 'Working.' }, { hang: true }] },
      ]);
      const running = startRalph(runArgs(3), repo);
      await waitUntil(() => running.output.stdout.includes('Working.') && repo.agent.children().length === 1);
      const { run } = await show(repo);
      for (let i = 0; i < times; i++) {
        running.child.kill(signal);
        await waitUntil(() =>
          running.output.stderr.includes(i === 0 ? 'Received signal, shutting down...' : 'Stopping'),
        );
      }
      const { code } = await running.done;
      expect(code).toBe(130);
      expect(repo.agent.children().filter(alive)).toEqual([]);
      expect(processesOfRun(run)).toEqual([]);
      const lines = readFileSync(repo.path('.ralph/runs', run, 'journal.ndjson'), 'utf8')
        .trimEnd()
        .split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
        type: 'run.ended',
        outcome: 'INTERRUPTED',
        exitCode: 130,
      });
      expect(repo.exists('.ralph/lock')).toBe(false);
    },
    40_000,
  );

  it('the first SIGINT lets the iteration finish', async () => {
    const repo = await repoWith([
      { steps: [{ text: 'Working.' }, { delay: 500 }, { shell: 'touch finished' }, { text: 'Later.' }] },
    ]);
    const running = startRalph(runArgs(3), repo);
    await waitUntil(() => running.output.stdout.includes('Working.'));
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    expect(repo.exists('finished')).toBe(true);
    expect(repo.agent.turn()).toBe(1);
  });
});

describe('how it refuses to start', () => {
  it.each([
    [['run'], 'exactly one of --prompt and --prompt-file'],
    [['run', '-p', 'x', '-f', 'y'], 'exactly one of --prompt and --prompt-file'],
    [['run', '-f', 'nowhere.md'], 'the prompt file nowhere.md does not exist'],
    [['run', '-f', '.'], 'the prompt file cannot be used: . is not a regular file\n  try: ralph run -p'],
    [['run', '-p', 'x', '-m', '0'], '-m is "0", but has to be a whole number of 1 or more'],
    [['run', '-p', 'x', '--max-iteratoins', '3'], 'did you mean --max-iterations?'],
    [['run', '-p', 'x', '-V-', '--no-sandbox'], 'there is no option --'],
    [['rnu'], 'did you mean run?'],
    [['guard', 'chek'], 'there is no command of ralph guard "chek"; did you mean check?'],
    [['guard', 'check'], 'ralph guard check: the command is missing'],
    [['run', '-p', 'x', '--done-pattern', '(?=x)'], 'look-ahead'],
  ])('%j is told in one sentence, with 2', async (words, sentence) => {
    const repo = await repoWith([{ steps: [] }]);
    const { code, stderr } = await runRalph(words, repo);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr).toContain('try: ');
    expect(repo.agent.turn()).toBe(0);
  });

  it('a missing agent is told with 3', async () => {
    const repo = makeRepo({ settings: { agent: { command: 'no-such-agent' } } });
    const { code, stderr } = await runRalph(['run', '-p', 'x'], repo);
    expect(code).toBe(3);
    expect(stderr).toContain('the agent "no-such-agent" is not installed');
  });

  it('a second loop in the same working copy is told with 5', async () => {
    const repo = await repoWith([{ steps: [{ text: 'Working.' }, { hang: true }] }]);
    const first = startRalph(runArgs(1), repo);
    await waitUntil(() => first.output.stdout.includes('Working.'));
    const second = await runRalph(runArgs(1), repo);
    expect(second.code).toBe(5);
    expect(second.stderr).toContain(`a loop is already running here`);
    expect(second.stderr).toContain(String(first.pid));
    first.child.kill('SIGINT');
    await waitUntil(() => first.output.stderr.includes('Received signal'));
    first.child.kill('SIGINT');
    expect((await first.done).code).toBe(130);
  });
});
