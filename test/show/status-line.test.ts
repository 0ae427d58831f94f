import { describe, expect, it } from 'vitest';
import { repoWith, runArgs, tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph } from '../support/ralph.ts';
import { openTerminal } from '../support/terminal.ts';

const wait = { timeoutMs: 60_000 };
/** The agent goes on when the file is there. */
const until = (file: string) => ({
  shell: `until [ -e ${file} ]; do sleep 0.1; done; echo more >> work.txt`,
});
const lines = (screen: string) => screen.split('\n').filter((line) => line.trim() !== '');
const settings = { guardrails: [{ command: 'test -e good' }], idleTimeout: '10m' };

describe('the status line', () => {
  it('stands below the stream, goes on while a tool runs, and is gone in the end', async () => {
    const turns = [
      { steps: [work, { text: 'First half of a sentence' }, until('go1'), { text: tag }] },
      { steps: [{ todo: [{ text: 'one', status: 'done' as const }] }, until('go2'), work, { text: tag }] },
    ];
    const repo = await repoWith(turns, settings);
    const terminal = openTerminal(repo, runArgs(5, '--color', 'never'));
    const status = () => lines(terminal.screen()).at(-1) ?? '';
    await waitUntil(() => /^iter 1\/5 · \d+s/.test(status()), { ...wait, what: 'the first iteration' });
    const shown = () => lines(terminal.screen());
    await waitUntil(() => shown().includes('First half of a sentence'), wait);
    expect(shown().filter((line) => line.startsWith('iter '))).toHaveLength(1);
    await waitUntil(() => status().includes('idle') || /iter 1\/5 · 1?[2-9]s/.test(status()), wait);

    repo.write('go1', '');
    await waitUntil(() => /^iter 2\/5 .*1\/1 tasks · guard ✗/.test(status()), {
      ...wait,
      what: 'the second',
    });
    repo.write('good', '');
    repo.write('go2', '');
    expect(await terminal.exitCode()).toBe(0);
    expect(lines(terminal.screen()).filter((line) => line.startsWith('iter '))).toEqual([]);
    expect(terminal.screen()).toContain('PROMISE_ACCEPTED (2 iterations');
  });

  it('fits a narrow terminal, and one that is made narrower', async () => {
    const repo = await repoWith([{ steps: [work, { text: 'Hm.' }, until('go'), { text: tag }] }]);
    const terminal = openTerminal(repo, runArgs(1, '--color', 'never'), { columns: 60, rows: 12 });
    const bar = () => lines(terminal.screen()).filter((line) => line.startsWith('iter '));
    await waitUntil(() => bar().length === 1, { ...wait, what: 'the status line' });
    terminal.resize(30, 12);
    await waitUntil(() => bar().length === 1 && (bar()[0] ?? '').length < 30, { ...wait, what: 'it to fit' });
    repo.write('go', '');
    expect(await terminal.exitCode()).toBe(0);
  });

  it('is off with --no-status-line, and where nobody looks', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    const { stdout, stderr } = await runRalph(runArgs(1), repo);
    expect(`${stdout}${stderr}`).not.toContain('\x1b');
    const slow = await repoWith([{ steps: [work, until('go'), { text: tag }] }]);
    const terminal = openTerminal(slow, runArgs(1, '--no-status-line'));
    await waitUntil(() => terminal.screen().includes('until [ -e go ]'), wait);
    expect(terminal.screen()).not.toContain('iter 1/1');
    slow.write('go', '');
    expect(await terminal.exitCode()).toBe(0);
  });
});
