import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type RepoWithAgent, repoWith, runArgs, show, tag, work } from '../../support/agent.ts';
import { builtProgram, runRalph } from '../../support/ralph.ts';

const works = { steps: [work, { text: 'More to do.' }] };
const claims = { steps: [work, { text: tag }] };
const asks = { steps: [work, { text: '<promise>DECIDE: tabs or spaces?</promise>' }] };
const spends = {
  steps: [
    work,
    { text: 'More.' },
    { result: { ok: true, usage: { inputTokens: 700, outputTokens: 300 }, costUsd: 0.5 } },
  ],
};
const limited = {
  steps: [{ error: { status: 429, message: 'Limit', resetsAt: Math.floor(Date.now() / 1000) + 30 } }],
};
const loggedOut = { steps: [{ error: { status: 401, message: 'Invalid API key' } }] };

/** Types a printed command into a shell, as a person does. */
async function type(repo: RepoWithAgent, line: string): Promise<number> {
  writeFileSync(
    `${repo.bin}/ralph`,
    `#!/bin/sh\nexec '${process.execPath}' '${builtProgram('ralph')}' "$@"\n`,
  );
  chmodSync(`${repo.bin}/ralph`, 0o755);
  const env = { ...process.env, ...repo.env, PATH: `${repo.bin}:${process.env.PATH}` };
  const result = promisify(execFile)('sh', ['-c', line], { cwd: repo.cwd, env });
  return result.then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
}

describe('the next command that a run prints', () => {
  it.each([
    ['after its iterations', [works, claims], runArgs(1), /^ralph run --resume RUN -m 2$/],
    [
      'after its money',
      [spends, claims],
      runArgs(9, '--max-cost', '0.4'),
      /^ralph run --resume RUN --max-cost 1\.00$/,
    ],
    ['after its tokens', [spends, claims], runArgs(9, '--max-tokens', '900'), /--max-tokens \d{4}$/],
    [
      'after the money of an iteration',
      [spends, claims],
      runArgs(9, '--max-iteration-cost', '0.4'),
      /--max-iteration-cost 1\.00$/,
    ],
    ['after its time', [works, claims], runArgs(9, '--max-time', '10ms'), /--max-time \d+s$/],
    ['after a question', [asks, claims], runArgs(9), /^ralph answer "\.\.\." && ralph run --resume RUN$/],
    [
      'after it got stuck',
      [{ steps: [{ text: 'Hm.' }] }, claims],
      runArgs(9, '--stuck-after', '1'),
      /^ralph run --resume RUN$/,
    ],
    [
      'after a limit that lasts longer than it may wait',
      [limited, claims],
      runArgs(9, '--max-wait', '1ms'),
      /^ralph run --resume RUN --max-wait 1m$/,
    ],
    ['after it was done', [claims], runArgs(9), /^ralph show RUN$/],
  ])('works as printed %s, and the show says the same', async (_name, turns, args, expected) => {
    const repo = await repoWith(turns);
    const { stdout } = await runRalph(args, repo);
    const [, line = ''] = /^Next: (.*)$/m.exec(stdout) ?? [];
    const { run, next } = await show(repo);
    expect(line.replace(run, 'RUN')).toMatch(expected);
    expect(next).toBe(line);
    expect(await type(repo, line)).toBe(0);
    expect(await show(repo)).toMatchObject({ run, outcome: 'PROMISE_ACCEPTED' });
  });

  it('is to resume once the question is answered, and a note is no answer', async () => {
    const repo = await repoWith([asks, claims]);
    await runRalph(runArgs(9), repo);
    const note = await runRalph(['note', 'Tabs'], repo);
    expect([note.code, note.stderr]).toEqual([2, expect.stringContaining('try: ralph answer')]);
    await runRalph(['answer', 'Tabs'], repo);
    const { run, next } = await show(repo);
    expect(next).toBe(`ralph run --resume ${run}`);
  });

  it('begins with the login of an agent that is logged out', async () => {
    const repo = await repoWith([loggedOut, claims]);
    const { stdout } = await runRalph(runArgs(9), repo);
    const { run } = await show(repo);
    expect(stdout).toContain(`Next: claude auth login && ralph run --resume ${run}\n`);
  });
});
