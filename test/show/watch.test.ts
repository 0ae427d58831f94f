import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { alive, waitUntil } from '../support/processes.ts';
import { builtProgram, runRalph, startRalph } from '../support/ralph.ts';
import { openInTerminal, openTerminal } from '../support/terminal.ts';

const wait = { timeoutMs: 60_000 };
const until = (file: string) => ({
  shell: `until [ -e ${file} ]; do sleep 0.1; done; echo more >> work.txt`,
});
const hostile = 'Text \u001b[2J\u001b]0;owned\u0007 of the agent';
const turns = [
  { steps: [{ text: tag }] },
  {
    steps: [
      work,
      { todo: [{ text: 'Mend the parser', status: 'active' as const }] },
      { text: hostile },
      until('go'),
      { text: tag },
    ],
  },
];
const settings = { guardrails: [{ command: 'echo checked' }] };

describe('ralph watch', () => {
  it.each([
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
  ])(
    'shows a loop that runs, follows it to its end, and gives the terminal back ($columns x $rows)',
    async (size) => {
      const repo = await repoWith(turns, settings);
      const loop = startRalph(runArgs(5), repo);
      const script = '"$@"; echo "ended with $?"; stty -a; sleep 600';
      const command = ['sh', '-c', script, 'sh', process.execPath, builtProgram('ralph'), 'watch'];
      await waitUntil(() => repo.exists('.ralph/runs') && loop.output.stdout.includes('until [ -e go'), wait);
      const terminal = openInTerminal(repo, command, size);
      await waitUntil(() => terminal.screen().includes('until [ -e go'), {
        ...wait,
        what: 'the running tool',
      });
      const screen = terminal.screen();
      for (const part of [
        'ralph watch',
        'running',
        'iter 2/5',
        'rejected: tool-calls',
        'Mend the parser',
        'echo checked  ✓',
      ]) {
        expect(screen).toContain(part);
      }
      expect(screen).toContain('Text  of the agent');

      terminal.press('?');
      await waitUntil(() => terminal.screen().includes('the iteration before, or after'), wait);
      terminal.press('x', 'k', 'e');
      await waitUntil(() => terminal.screen().includes('0 tool calls succeeded, at least 1 wanted'), wait);
      terminal.press('Escape');
      terminal.resize(100, 30);
      await waitUntil(() => terminal.screen().split('\n').length === 30, { ...wait, what: 'the new size' });

      repo.write('go', '');
      expect((await loop.done).code).toBe(0);
      await waitUntil(() => terminal.screen().includes('PROMISE_ACCEPTED'), wait);
      terminal.press('q');
      await waitUntil(() => terminal.screen().includes('ended with 0'), wait);
      await waitUntil(() => / echo /.test(terminal.screen()), { ...wait, what: 'the echo of the terminal' });
      expect(terminal.screen()).toMatch(/ icanon /);
      expect(terminal.modes()).toEqual({ alternate: false, cursor: true, wrap: true });
    },
  );

  it('cuts a failing guardrail last at 80 x 24, and scrolls the evidence', async () => {
    const names = Array.from({ length: 14 }, (_, n) => n + 1);
    const guardrails = names.map((n) => ({ command: `test ${n} -lt 12` }));
    const repo = await repoWith(turns.slice(1), { guardrails });
    repo.write('go', '');
    await runRalph(runArgs(1), repo);
    const terminal = openTerminal(repo, ['watch'], { columns: 80, rows: 24 });
    await waitUntil(() => terminal.screen().includes('test 14 -lt 12  ✗'), {
      ...wait,
      what: 'the guardrails',
    });
    const screen = terminal.screen();
    expect(screen).toMatch(
      /test 12 -lt 12 {2}✗\ntest 13 -lt 12 {2}✗\ntest 14 -lt 12 {2}✗\n(test.*\n)*\+\d+ more/,
    );
    terminal.press('e');
    await waitUntil(() => terminal.screen().includes('✓ turn: finished'), { ...wait, what: 'the evidence' });
    const last = '✗ guardrail: test 14 -lt 12: exit code 1';
    expect(terminal.screen()).toMatch(/\+\d+ more \(Space\)/);
    expect(terminal.screen()).not.toContain(last);
    for (const _ of names) terminal.press('Space');
    await waitUntil(() => terminal.screen().includes(last), { ...wait, what: 'the end of the evidence' });
    for (const _ of names) terminal.press('b');
    await waitUntil(() => terminal.screen().includes('✓ turn: finished'), { ...wait, what: 'its beginning' });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gives the terminal back after %s', async (signal) => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    const ownPid = ['sh', '-c', 'echo "$$" >pid; exec "$@"', 'sh'];
    const watch = [process.execPath, builtProgram('ralph'), 'watch'];
    // The terminal has to outlive the program to be looked at.
    const command = ['sh', '-c', '"$@"; sleep 600', 'sh', ...ownPid, ...watch];
    const terminal = openInTerminal(repo, command, { columns: 80, rows: 24 });
    await waitUntil(() => terminal.modes().alternate, { ...wait, what: 'the screen' });
    const pid = Number(repo.read('pid'));
    process.kill(pid, signal);
    await waitUntil(() => !alive(pid), wait);
    expect(terminal.modes()).toEqual({ alternate: false, cursor: true, wrap: true });
  });

  it('tells the story as text where there is no terminal, and ends with the run', async () => {
    const repo = await repoWith(turns, settings);
    const loop = startRalph(runArgs(5), repo);
    await waitUntil(() => loop.output.stdout.includes('until [ -e go'), wait);
    const watching = startRalph(['watch'], repo);
    await waitUntil(() => watching.output.stdout.includes('until [ -e go'), wait);
    repo.write('go', '');
    const { code, stdout } = await watching.done;
    expect(code).toBe(0);
    expect(stdout).toContain('Claim rejected: tool-calls');
    expect(stdout).toContain('PROMISE_ACCEPTED (2 iterations');
    expect(stdout).not.toContain('\x1b');
    await loop.done;
  });

  it('says so when the process of the loop is gone', async () => {
    const repo = await repoWith([{ steps: [work, until('never'), { text: tag }] }]);
    const loop = startRalph(runArgs(1), repo);
    await waitUntil(() => loop.output.stdout.includes('until [ -e never'), wait);
    loop.child.kill('SIGKILL');
    await loop.done;
    expect((await runRalph(['watch'], repo)).stdout).toContain('The process of this loop is gone.');
    const terminal = openTerminal(repo, ['watch'], { columns: 80, rows: 24 });
    await waitUntil(() => terminal.screen().includes('The process of this loop is gone.'), wait);
    terminal.press('C-c');
    expect(await terminal.exitCode()).toBe(0);
  });

  it('says what to do where there is no run', async () => {
    const repo = await repoWith([{ steps: [work] }]);
    const { code, stderr } = await runRalph(['watch'], repo);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no run in this folder yet');
  });
});
