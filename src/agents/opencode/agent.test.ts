import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentTask } from '../adapter.ts';
import { createTurnReader } from '../turn.ts';
import { opencode } from './agent.ts';

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}.ndjson`, import.meta.url), 'utf8');

function failure(data: object, name = 'APIError'): string {
  return JSON.stringify({ type: 'error', timestamp: 1_000_000, sessionID: 'ses_1', error: { name, data } });
}

describe('the opencode stream', () => {
  it('is not over at the end of a compaction, and not finished either', () => {
    const reader = createTurnReader(opencode);
    const lines = read('1.18.33-compaction').trim().split('\n');
    const after = lines.findIndex((line) => line.includes('compaction_continue')) + 1;
    for (const line of lines.slice(0, after)) {
      reader.push(line);
      expect(reader.ended).toBe(false);
    }
    expect(reader.finish({ exitCode: null, cause: 'idle' })).toMatchObject({ text: [], end: 'inactive' });
  });

  it('is over after a second overflow without a tool call in between', () => {
    const overflow = failure({ message: 'too long' }, 'ContextOverflowError');
    const tool = '{"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"completed"}}}';
    const reader = createTurnReader(opencode);
    for (const line of [overflow, tool, overflow]) reader.push(line);
    expect(reader.ended).toBe(false);
    reader.push(overflow);
    expect(reader.ended).toBe(true);
  });

  it('takes a long wait before the next request for a usage limit, and a short one for overload', () => {
    const waiting = (seconds: string) =>
      failure({ message: 'slow down', statusCode: 429, responseHeaders: { 'retry-after': seconds } });
    const [, long] = opencode.parse(waiting('3600'), opencode.newState());
    expect(long).toMatchObject({ limit: { kind: 'usage', resetsAt: 4_600_000 } });
    const [, short] = opencode.parse(waiting('2'), opencode.newState());
    expect(short).toMatchObject({ limit: { kind: 'overload' } });
    expect(short).not.toHaveProperty('limit.resetsAt');
  });

  it('knows a provider that nobody logged in to', () => {
    const [, result] = opencode.parse(
      failure({ message: 'no key' }, 'ProviderAuthError'),
      opencode.newState(),
    );
    expect(result).toMatchObject({ type: 'result', ok: false, limit: { kind: 'auth' } });
  });

  it('counts the reasoning as output, and what went in as context', () => {
    const tokens = { input: 1, output: 2, reasoning: 4, cache: { read: 8, write: 16 } };
    const line = JSON.stringify({ type: 'step_finish', part: { reason: 'tool-calls', tokens, cost: 0.5 } });
    expect(opencode.parse(line, opencode.newState())).toEqual([
      {
        type: 'usage',
        usage: { inputTokens: 1, outputTokens: 6, cacheReadTokens: 8, cacheWriteTokens: 16, costUsd: 0.5 },
      },
      { type: 'context', size: { tokens: 25 } },
    ]);
  });

  it('counts events that it does not know, and shows lines that are not JSON', () => {
    expect(opencode.parse('{"type":"hologram"}', opencode.newState())).toEqual([
      { type: 'unknown', name: 'hologram' },
    ]);
    expect(opencode.parse('Performing migration', opencode.newState())).toEqual([
      { type: 'notice', text: 'Performing migration' },
    ]);
  });
});

describe('the opencode command', () => {
  const task: AgentTask = { prompt: 'do it', permissions: 'full', flags: [], asRoot: false };

  it('streams, with the prompt on standard input', () => {
    expect(opencode.command({ ...task, flags: ['-m', 'a/b'] }, '1.18.33', 'stream')).toEqual({
      args: ['run', '--format', 'json', '--auto', '-m', 'a/b'],
      stdin: 'do it',
      env: {},
    });
  });

  it('gives only the last answer in text mode', () => {
    expect(opencode.command(task, null, 'text').args).toEqual(['run', '--auto']);
  });

  it('allows everything by the environment where the flag does not exist yet', () => {
    expect(opencode.command(task, '1.17.20', 'stream')).toEqual({
      args: ['run', '--format', 'json'],
      stdin: 'do it',
      env: { OPENCODE_PERMISSION: '{"*":"allow"}' },
    });
  });

  it('denies what the permissions do not cover', () => {
    const env = (permissions: AgentTask['permissions']) =>
      opencode.command({ ...task, permissions }, null, 'stream').env;
    expect(env('edit')).toEqual({ OPENCODE_PERMISSION: '{"bash":"deny"}' });
    expect(env('read')).toEqual({ OPENCODE_PERMISSION: '{"bash":"deny","edit":"deny"}' });
  });

  it('resumes a session', () => {
    const { args } = opencode.command({ ...task, resumeSession: 'ses_1' }, null, 'stream');
    expect(args.slice(-2)).toEqual(['--session', 'ses_1']);
  });
});
