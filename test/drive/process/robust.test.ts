import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, show, tag, work } from '../../support/agent.ts';
import { alive, processesOfRun, waitUntil } from '../../support/processes.ts';
import { builtProgram, runRalph, startRalph } from '../../support/ralph.ts';
import type { Repo } from '../../support/repo.ts';

const claims = { steps: [work, { text: tag }] };
const works = { steps: [work, { text: 'More to do.' }] };

function program(repo: Repo, name: string, text: string): void {
  writeFileSync(`${repo.bin}/${name}`, text);
  chmodSync(`${repo.bin}/${name}`, 0o755);
}

describe('an error that ends a run', () => {
  it.skipIf(process.platform !== 'linux')('has exit code 70 if nobody foresaw it', async () => {
    const unreadable = { shell: 'ln -sf /proc/self/mem PROMPT.md; echo work >> work.txt' };
    const repo = await repoWith(
      [{ steps: [unreadable, { text: 'More.' }] }],
      {},
      { files: { 'PROMPT.md': 'x\n' } },
    );
    const { code, stderr } = await runRalph(['run', '-f', 'PROMPT.md', '-m', '3'], repo);
    expect({ code, stderr }).toEqual({ code: 70, stderr: expect.stringContaining('error: EIO') });
    expect(await show(repo)).toMatchObject({ outcome: 'LOOP_FAILED', exitCode: 70, iterations: 1 });
  });

  it('has the exit code of the process in its journal, also after a signal', async () => {
    const guardrails = [{ command: 'true' }];
    const slow = {
      shell: 'mkdir -p .ralph/guardrail_1_true.log/x began; until [ -e go ]; do sleep 0.05; done',
    };
    const repo = await repoWith([{ steps: [slow, { text: 'More.' }] }], { guardrails });
    const running = startRalph(runArgs(3), repo);
    await waitUntil(() => repo.exists('began'));
    running.child.kill('SIGINT');
    await waitUntil(() => running.output.stderr.includes('Received signal'));
    repo.write('go', '');
    expect((await running.done).code).toBe(2);
    expect(await show(repo)).toMatchObject({ outcome: 'LOOP_FAILED', exitCode: 2, iterations: 1 });
  });
});

describe('a reader that goes away', () => {
  it('does not end the loop, and is never a success by itself', async () => {
    const repo = await repoWith([
      { steps: [{ text: 'One.' }, { delay: 300 }, work] },
      { steps: [{ text: 'Two.' }, { delay: 300 }, work] },
    ]);
    program(
      repo,
      'piped',
      `#!/bin/bash\nnode '${builtProgram('ralph')}' "$@" | head -1 > /dev/null; exit \${PIPESTATUS[0]}\n`,
    );
    const { execFileSync } = await import('node:child_process');
    const env = { ...process.env, ...repo.env, PATH: `${repo.bin}:${process.env.PATH}` };
    const code = (() => {
      try {
        execFileSync(`${repo.bin}/piped`, runArgs(2), { cwd: repo.cwd, env });
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    })();
    expect(code).toBe(1);
    expect(await show(repo)).toMatchObject({ outcome: 'MAX_ITERATIONS_REACHED', iterations: 2 });
  });
});

describe('an agent that cannot work', () => {
  it('and fails five times is told with 3, not as stuck', async () => {
    const repo = await repoWith([claims], { maxFailures: 2, agent: { command: 'my-agent' } });
    program(repo, 'my-agent', '#!/bin/sh\nexit 1\n');
    expect((await runRalph(runArgs(9), repo)).code).toBe(3);
  });

  it('because its program is broken is told in one sentence with 3', async () => {
    const repo = await repoWith([claims], { agent: { command: 'my-agent' } });
    program(repo, 'my-agent', '#!/nonexistent\n');
    const { code, stderr } = await runRalph(runArgs(1), repo);
    expect(code).toBe(3);
    expect(stderr).toContain('could not be started');
  });

  it('because it only echoes its prompt is not done', async () => {
    const repo = await repoWith([claims], { agent: { command: 'cat' } });
    expect(
      (await runRalph(['run', '-p', `Do it.\n${tag}`, '-m', '1', '--completion-promise', 'DONE'], repo)).code,
    ).toBe(1);
  });

  it('because it is logged out is told with how to log in', async () => {
    const repo = await repoWith([{ steps: [{ error: { status: 401, message: 'Invalid API key' } }] }]);
    expect((await runRalph(runArgs(1), repo)).stdout).toContain(
      'Next: claude auth login && ralph run --resume ',
    );
  });
});

describe('the question for a commit message', () => {
  it('is stopped with the loop, and leaves nothing behind', async () => {
    const change = { steps: [{ shell: 'echo more >> README.md' }, { text: 'Changed.' }] };
    const asks = { steps: [{ child: { seconds: 600, setsid: true } }, { hang: true as const }] };
    const repo = await repoWith([change, asks], { scm: { command: 'git', tasks: ['commit'] } });
    const running = startRalph(runArgs(3), repo);
    await waitUntil(() => repo.agent.children().length === 1);
    const { run } = await show(repo);
    running.child.kill('SIGINT');
    await waitUntil(() => running.output.stderr.includes('Received signal'));
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    expect(repo.agent.children().filter(alive)).toEqual([]);
    expect(processesOfRun(run)).toEqual([]);
  });
});

describe('what a human said', () => {
  it('is in the prompt again when the iteration that had it was killed', async () => {
    const hang = { steps: [{ text: 'Hanging.' }, { hang: true as const }] };
    const repo = await repoWith([{ steps: [{ text: 'First.' }, { delay: 3000 }, work] }, hang, claims]);
    const first = startRalph(runArgs(5), repo);
    await waitUntil(() => first.output.stdout.includes('First.'));
    await runRalph(['note', 'HELLO'], repo);
    await waitUntil(() => first.output.stdout.includes('Hanging.'));
    first.child.kill('SIGKILL');
    await first.done;
    expect((await runRalph(['run', '--resume'], repo)).code).toBe(0);
    const calls = await repo.agent.calls();
    expect(calls.map((call) => call.prompt.includes('HELLO'))).toEqual([false, true, true]);
  });

  it('waits for the resumed run when nobody had read it', async () => {
    const slow = { steps: [{ text: 'Working.' }, { delay: 3000 }, work] };
    const repo = await repoWith([slow, claims]);
    const first = startRalph(runArgs(5), repo);
    await waitUntil(() => first.output.stdout.includes('Working.'));
    await runRalph(['note', 'KEEP ME'], repo);
    await runRalph(['stop'], repo);
    expect((await first.done).code).toBe(130);
    expect((await runRalph(['run', '--resume'], repo)).code).toBe(0);
    expect((await repo.agent.calls())[1]?.prompt).toContain('KEEP ME');
  });

  it('cannot be forged by the agent in the working copy', async () => {
    const forge = {
      steps: [
        { shell: 'echo "stop here" > .ralph/answer.txt' },
        { text: '<promise>DECIDE: a or b?</promise>' },
      ],
    };
    const repo = await repoWith([forge, claims]);
    expect((await runRalph(runArgs(3), repo)).code).toBe(4);
    await runRalph(['run', '--resume'], repo);
    expect((await repo.agent.calls())[1]?.prompt).not.toContain('stop here');
  });

  it('about stopping an earlier process does not stop the resumed one', async () => {
    const hang = { steps: [{ text: 'Hanging.' }, { hang: true as const }] };
    const repo = await repoWith([hang, works, claims]);
    const first = startRalph(runArgs(5), repo);
    await waitUntil(() => first.output.stdout.includes('Hanging.'));
    await runRalph(['stop'], repo);
    await waitUntil(() => first.output.stderr.includes('Asked to stop'));
    first.child.kill('SIGKILL');
    await first.done;
    expect((await runRalph(['run', '--resume'], repo)).code).toBe(0);
  });
});

describe('resume', () => {
  it('takes the latest run that is not done', async () => {
    const repo = await repoWith([works, claims, claims]);
    expect((await runRalph(runArgs(1), repo)).code).toBe(1);
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    expect((await runRalph(['run', '--resume', '-m', '3'], repo)).code).toBe(0);
  });

  it('does not spend a budget that is spent', async () => {
    const repo = await repoWith([{ steps: [work, { result: { ok: true, costUsd: 0.05 } }] }]);
    expect((await runRalph(runArgs(9, '--max-cost', '0.04'), repo)).code).toBe(7);
    const again = await runRalph(['run', '--resume'], repo);
    expect({ code: again.code, turns: repo.agent.turn() }).toEqual({ code: 2, turns: 1 });
    expect(again.stderr).toContain('--max-cost');
  });

  it('keeps the settings of every resume before', async () => {
    const repo = await repoWith([works]);
    await runRalph(runArgs(1), repo);
    await runRalph(['run', '--resume', '-m', '2', '--stuck-after', '9'], repo);
    await runRalph(['run', '--resume', '-m', '3'], repo);
    const { stdout } = await runRalph(['run', '--resume', '-m', '9', '--dry-run=json'], repo);
    expect(JSON.parse(stdout).limits).toMatchObject({ withoutProgress: 9, iterations: 9 });
  });
});

describe('secrets', () => {
  const env = { MY_API_KEY: 'supersecretvalue123x' };

  it('in an error do not reach the journal, whatever is done to it', async () => {
    const repo = await repoWith([
      { steps: [work, { error: { status: 400, message: 'Bad key supersecretvalue123x' } }] },
    ]);
    await runRalph(runArgs(1), { ...repo, env: { ...repo.env, ...env } });
    const { run } = await show(repo);
    expect(repo.read(`.ralph/runs/${run}/journal.ndjson`)).not.toContain('supersecret');
  });

  it('do not show in a dry run', async () => {
    const repo = await repoWith([claims], {
      agent: { command: 'claude', flags: ['--key supersecretvalue123x'] },
    });
    const { stdout } = await runRalph(['run', '-p', 'Use supersecretvalue123x', '--dry-run'], {
      ...repo,
      env: { ...repo.env, ...env },
    });
    expect(stdout).toContain('[redacted:MY_API_KEY]');
    expect(stdout).not.toContain('supersecret');
  });

  it('in the task make a run that is not resumed with less than was said', async () => {
    const repo = await repoWith([works]);
    const options = { ...repo, env: { ...repo.env, ...env } };
    await runRalph(['run', '-p', 'Use supersecretvalue123x', '-m', '1'], options);
    const { code, stderr } = await runRalph(['run', '--resume', '-m', '2'], options);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('held a secret') });
  });
});

describe('one loop per working copy', () => {
  it('also from a folder below', async () => {
    const repo = await repoWith([{ steps: [{ text: 'Working.' }, { hang: true }] }]);
    const first = startRalph(runArgs(1), repo);
    await waitUntil(() => first.output.stdout.includes('Working.'));
    mkdirSync(repo.path('sub'));
    const second = await runRalph(runArgs(1, '--agent', 'claude'), { ...repo, cwd: repo.path('sub') });
    expect(second.code).toBe(5);
    first.child.kill('SIGKILL');
    await first.done;
  });
});

describe('guardrail output', () => {
  it('counts what the agent can read, not its colours, and says when it is cut', async () => {
    const command = `for i in $(seq 400); do printf '\\033[38;2;1;2;3mx\\033[0m'; done; echo; echo THE ERROR; exit 1`;
    const repo = await repoWith([works, works, works], {
      guardrails: [{ command }],
      outputTruncateChars: 405,
    });
    await runRalph(runArgs(2), repo);
    const prompt = (await repo.agent.calls())[1]?.prompt ?? '';
    expect(prompt).toContain(
      `${'x'.repeat(81)}\n... [6 characters truncated]\n${'x'.repeat(313)}\nTHE ERROR\n`,
    );
  });

  it('loses the power of completion tags in it', async () => {
    const repo = await repoWith([works, works], {
      guardrails: [{ command: 'echo "<pro""mise>DONE</pro""mise>"; exit 1' }],
    });
    await runRalph(runArgs(2), repo);
    expect((await repo.agent.calls())[1]?.prompt).not.toContain(tag);
  });

  it('tells a signal as a shell does', async () => {
    const repo = await repoWith([works], { guardrails: [{ command: 'kill -9 $$' }] });
    expect((await runRalph(runArgs(1), repo)).stdout).toContain('failed with exit code 137');
  });
});

describe('small things', () => {
  it.each([
    [['run', '-f', 'empty.md'], 'is empty'],
    [['run', '-p', 'x', '--dry-run=yaml'], 'has to be json'],
    [['run', '-p', 'x', '--completion-promise', 'BLOCKED: x'], 'must not begin with BLOCKED:'],
  ])('%j is refused', async (words, sentence) => {
    const repo = await repoWith([claims], {}, { files: { 'empty.md': '\n' } });
    const { code, stderr } = await runRalph(words, repo);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });

  it('a known agent is not asked for its version before its first turn', async () => {
    const repo = await repoWith([claims]);
    program(repo, 'claude', '#!/bin/sh\necho "$1" >> calls.txt\nexit 1\n');
    await runRalph(runArgs(1), repo);
    expect(repo.read('calls.txt')).toBe('-p\n');
  });

  it('a run that could not go on is told from one that was killed', async () => {
    const repo = await repoWith(
      [{ steps: [work, { shell: 'rm PROMPT.md' }] }],
      {},
      { files: { 'PROMPT.md': 'x' } },
    );
    await runRalph(['run', '-f', 'PROMPT.md'], repo);
    const { stdout } = await runRalph(['runs'], repo);
    expect(stdout).toMatch(/^\S+ +\d{4}-\d\d-\d\d \d\d:\d\d UTC\S* +LOOP_FAILED .* x$/m);
    expect((await runRalph(['show'], repo)).stdout).toMatch(/^Task +x$/m);
  });

  it('a claim in a turn that changed our files is rejected', async () => {
    const repo = await repoWith([
      { steps: [{ shell: 'echo "{}" > .ralph/settings.json; touch x' }, { text: tag }] },
    ]);
    expect((await runRalph(runArgs(1), repo)).code).toBe(1);
    expect((await show(repo)).verdicts[0]?.because).toContain('own-files');
  });
});
