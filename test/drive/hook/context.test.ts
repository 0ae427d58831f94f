import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepo, type Repo } from '../../support/repo.ts';
import { plugin, runProgram } from '../prd/support.ts';

const monitor = ['node', join(plugin, 'hooks/generated/context.cjs')] as const;
const window = { CLAUDE_CONTEXT_WINDOW: '1000' };

function inputOf(repo: Repo, session = 's') {
  return {
    hook_event_name: 'PostToolUse',
    session_id: session,
    transcript_path: repo.path('t.jsonl'),
    cwd: repo.cwd,
  };
}

/** What the agent is told; empty where nothing is. */
async function told(repo: Repo, content: string, env: Record<string, string> = window, session = 's') {
  writeFileSync(repo.path('t.jsonl'), content);
  const { code, stdout } = await runProgram(monitor, repo, inputOf(repo, session), env);
  expect(code).toBe(0);
  if (stdout === '') return '';
  const { hookSpecificOutput } = JSON.parse(stdout);
  expect(hookSpecificOutput.hookEventName).toBe('PostToolUse');
  return hookSpecificOutput.additionalContext as string;
}

/** A transcript of so many percent of 1000 tokens, four characters each. */
const filled = (percent: number) => 'x'.repeat(percent * 40);

function answerWith(usage: object, more: object = {}): string {
  return `${JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: [], usage }, ...more })}\n`;
}

describe('the context monitor', () => {
  it('tells each threshold once in a session, with its severity and its text', async () => {
    const repo = makeRepo({ git: false });
    const expected = [
      [49, ''],
      [50, 'NOTICE', 'Be mindful of remaining space.'],
      [59, ''],
      [60, 'NOTICE', 'add new stories to tasks.json — the next iteration will pick them up.'],
      [70, 'WARNING', 'Finish your current task and commit soon.'],
      [79, ''],
      [80, 'WARNING', 'capture any implementation details or insights in progress.txt'],
      [90, 'CRITICAL', 'Wrap up immediately. Do NOT start new work.'],
      [99, ''],
    ] as const;
    for (const [percent, severity, text] of expected) {
      const said = await told(repo, filled(percent));
      if (severity === '') expect(said).toBe('');
      else expect(said).toContain(`[${severity}]`);
      if (text) expect(said).toContain(text);
    }
    expect(await told(repo, filled(95), window, 'another')).toContain('[CRITICAL]');
  });

  it('knows a session without an id by its transcript', async () => {
    const repo = makeRepo({ git: false });
    writeFileSync(repo.path('t.jsonl'), filled(55));
    const { session_id: _id, ...input } = inputOf(repo);
    expect((await runProgram(monitor, repo, input, window)).stdout).toContain('[NOTICE]');
    expect((await runProgram(monitor, repo, input, window)).stdout).toBe('');
  });

  it('tells only the highest of several that were passed at once', async () => {
    const repo = makeRepo({ git: false });
    expect(await told(repo, filled(85))).toContain('[WARNING]');
    for (const percent of [50, 60, 70, 85]) expect(await told(repo, filled(percent))).toBe('');
    expect(await told(repo, filled(90))).toContain('[CRITICAL]');
  });

  it('believes the tokens that the transcript reports before its size', async () => {
    const repo = makeRepo({ git: false });
    const small = answerWith({
      input_tokens: 10,
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 90,
      output_tokens: 10,
    });
    expect(await told(repo, small)).toContain('at about 71%');
    const compacted = filled(99).replace(/$/, '\n') + small + answerWith({ input_tokens: 20 });
    expect(await told(repo, compacted)).toBe('');
    const sidechain = answerWith({ input_tokens: 950 }, { isSidechain: true });
    expect(await told(repo, answerWith({ input_tokens: 20 }) + sidechain, window, 'other')).toBe('');
  });

  it('has a window of 200000 tokens, and a divisor that can be tuned', async () => {
    const repo = makeRepo({ git: false });
    expect(await told(repo, 'x'.repeat(399_999), {})).toBe('');
    expect(await told(repo, 'x'.repeat(400_000), {})).toContain('[NOTICE]');
    expect(await told(repo, filled(90), { ...window, RALPH_CHARS_PER_TOKEN: '8' }, 'b')).toBe('');
    expect(await told(repo, filled(50), { ...window, CLAUDE_CONTEXT_WINDOW: 'many' }, 'c')).toBe('');
  });

  it('is silent about what it cannot read', async () => {
    const repo = makeRepo({ git: false });
    for (const input of [
      '',
      '{}',
      'x',
      { ...inputOf(repo), transcript_path: repo.path('missing') },
      { session_id: 's', transcript_path: repo.cwd },
    ]) {
      expect(await runProgram(monitor, repo, input, window)).toMatchObject({ code: 0, stdout: '' });
    }
  });

  it('starts over when a session starts', async () => {
    const repo = makeRepo({ git: false });
    const start = ['node', join(plugin, 'hooks/generated/session-start.cjs')] as const;
    expect(await told(repo, filled(50))).toContain('[NOTICE]');
    expect(await told(repo, filled(50))).toBe('');
    const started = await runProgram(start, repo, {
      hook_event_name: 'SessionStart',
      session_id: 's',
      source: 'startup',
    });
    expect(started).toMatchObject({ code: 0, stdout: '' });
    expect(await told(repo, filled(50))).toContain('[NOTICE]');
  });

  it('is there under its older name', async () => {
    const repo = makeRepo({ git: false });
    writeFileSync(repo.path('t.jsonl'), filled(90));
    const older = ['python3', join(plugin, 'hooks/scripts/context_monitor.py')] as const;
    const { stdout } = await runProgram(older, repo, inputOf(repo), window);
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('[CRITICAL]');
  });
});
