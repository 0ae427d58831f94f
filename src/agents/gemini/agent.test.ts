import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { gemini } from './agent.ts';

const timestamp = '2026-11-15T18:00:00.000Z';

function failure(message: string): string {
  return JSON.stringify({ type: 'result', timestamp, status: 'error', error: { message } });
}

describe('the gemini stream', () => {
  it('starts a new text after a tool call', () => {
    const state = gemini.newState();
    const piece = (content: string) =>
      gemini.parse(JSON.stringify({ type: 'message', role: 'assistant', content, delta: true }), state);
    expect(piece('a')).toEqual([{ type: 'text', text: 'a' }]);
    expect(piece('b')).toEqual([{ type: 'text', text: 'b', delta: true }]);
    gemini.parse('{"type":"tool_use","tool_name":"glob","tool_id":"1"}', state);
    expect(piece('c')).toEqual([{ type: 'text', text: 'c' }]);
  });

  it('shows warnings, such as a hook that blocks the end, and goes on', () => {
    const line = '{"type":"error","severity":"warning","message":"Agent execution blocked: tests fail"}';
    expect(gemini.parse(line, gemini.newState())).toEqual([
      { type: 'notice', text: 'Agent execution blocked: tests fail' },
    ]);
  });

  it.each([
    ['[API Error: {"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]', 'overload'],
    ['[API Error: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]', 'overload'],
    ['[API Error: You exceeded your current quota, please check your plan and billing details.]', 'quota'],
  ])('tells the limit in %j', (message, kind) => {
    expect(gemini.parse(failure(message), gemini.newState())).toMatchObject([{ ok: false, limit: { kind } }]);
  });

  it('takes a quota that comes back by itself for a usage limit', () => {
    const message = '[API Error: You exceeded your current quota.\nSuggested retry after 3600s.]';
    expect(gemini.parse(failure(message), gemini.newState())).toMatchObject([
      { limit: { kind: 'usage', resetsAt: Date.parse(timestamp) + 3_600_000 } },
    ]);
  });

  it('counts the thoughts as output', () => {
    const stats = { total_tokens: 180, input_tokens: 100, output_tokens: 50, cached: 40, input: 60 };
    const line = JSON.stringify({ type: 'result', status: 'success', stats });
    expect(gemini.parse(line, gemini.newState())).toMatchObject([
      { usage: { inputTokens: 60, outputTokens: 80, cacheReadTokens: 40, cacheWriteTokens: 0 } },
    ]);
  });

  it('counts events that it does not know, and shows lines that are not JSON', () => {
    expect(gemini.parse('{"type":"hologram"}', gemini.newState())).toEqual([
      { type: 'unknown', name: 'hologram' },
    ]);
    expect(gemini.parse('YOLO mode is enabled.', gemini.newState())).toEqual([
      { type: 'notice', text: 'YOLO mode is enabled.' },
    ]);
  });
});

describe('the gemini command', () => {
  const task: AgentTask = { prompt: 'do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt on standard input and trust in the folder', () => {
    expect(gemini.command({ ...task, flags: ['-m', 'flash'] }, null, 'stream')).toEqual({
      args: ['-o', 'stream-json', '--approval-mode', 'yolo', '-m', 'flash'],
      stdin: 'do it',
      env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    });
  });

  it.each([
    ['edit', 'auto_edit'],
    ['read', 'default'],
  ] as const)('approves for %s only as far as %s', (permissions, mode) => {
    expect(gemini.command({ ...task, permissions }, null, 'text').args).toEqual([
      '-o',
      'text',
      '--approval-mode',
      mode,
    ]);
  });

  it('resumes a session', () => {
    const { args } = gemini.command({ ...task, resumeSession: 'abc' }, null, 'stream');
    expect(args.slice(-2)).toEqual(['--resume', 'abc']);
  });

  it("leaves approval and format to the user's flags where they name them", () => {
    const flags = ['-y', '--output-format=json'];
    expect(gemini.command({ ...task, flags }, null, 'stream').args).toEqual(flags);
  });
});
